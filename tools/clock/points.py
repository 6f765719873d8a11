"""Measured points, as fit.py reads them, out of the JSON that the program prints."""
import csv


def writer(file):
    """Of the CSV, its head written."""
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["task", "version", "dims", "regime", "median_us", "status"])
    return out


def points(task, result, versions):
    """Rows of a result's workloads in both regimes; versions: the field that has a version's time, by the version's name."""
    for row in result["workloads"] + result["other_regime"]:
        dims = "x".join(str(x) for x in row["dims"].values())
        for version, field in versions.items():
            if row[field] is not None:
                yield [task, version, dims, row["regime"], f"{row[field]:.4f}", "ok"]
