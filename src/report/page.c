/* The page: one HTML file. Its frame, style and script are share/report/; what is in it is made here. */
#include "report/html.h"
#include "report/report.h"

bool report_page(const struct view *v, struct arena *a, struct str *out, struct err *err)
{
    (void)a;
    (void)err;
    html_addf(out,
              "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>%s</title>\n<h1>%s</h1>\n",
              v->run.task_name, v->run.task_name);
    return true;
}
