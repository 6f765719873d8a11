{{indent}}const {{type}} {{x}} = {{value}}, {{above}} = {{x}} - {{highest}};
{{indent}}const {{type}} {{scale}} = {{exp}}({{above}} > 0 ? -{{above}} : {{above}});
{{indent}}{{sum}} = {{above}} > 0 ? {{sum}} * {{scale}} + 1 : {{sum}} + {{scale}};
{{indent}}{{highest}} = {{above}} > 0 ? {{x}} : {{highest}};
