"""{{quoted_title}}: the operators torch.ops.{{package}}.{{op}}{{#functional}} and torch.ops.{{package}}.{{op}}{{/functional}}_into.

{{#operators}}
{{schema}}
{{/operators}}
"""

import torch
from torch import library

try:
    from . import _C  # registers the operators
except ImportError as reason:
    raise ImportError("{{package}} is not built: `pip install --no-build-isolation .` or `python setup.py build_ext "
                      f"--inplace` where its setup.py is ({reason})") from reason


def _check(name, tensor, dtype, shape):
    torch._check(tensor.dtype == dtype, lambda: f"{{op}}: {name} must be of type {dtype}, not {tensor.dtype}")
    torch._check(tensor.dim() == len(shape), lambda: f"{{op}}: {name} must have {len(shape)} dimensions")
    for axis, extent in enumerate(shape):
        torch._check(tensor.size(axis) == extent, lambda: f"{{op}}: axis {axis} of {name} must be {extent}")


{{#operators}}
@library.register_fake("{{package}}::{{op}}{{suffix}}")
def _({{#parameters}}{{comma}}{{name}}{{default}}{{/parameters}}):
{{#steps}}
{{#told}}
    {{dim}} = {{python}}
{{/told}}
{{/steps}}
{{#given_tensors}}
    _check("{{name}}", {{name}}, {{python}}, ({{shape}}))
{{/given_tensors}}
{{#makes}}
    return {{#written}}{{comma}}{{first}}.new_empty(({{shape}}), dtype={{python}}){{/written}}
{{/makes}}


{{/operators}}
{{#operators}}
{{op}}{{suffix}} = torch.ops.{{package}}.{{op}}{{suffix}}
{{/operators}}
