"""Which inputs are valid for their schemas, as jsonschema-rs says.

Each line of standard input is `{schema, inputs}`; prints a line with the list of verdicts for each, or `null` if it refuses the schema.
"""

import json
import sys

import jsonschema_rs

for line in sys.stdin:
    item = json.loads(line)
    try:
        validator = jsonschema_rs.Draft202012Validator(item["schema"], validate_formats=True)
    except Exception as error:
        print(json.dumps({"error": str(error)[:300]}), flush=True)
        continue
    print(json.dumps([validator.is_valid(value) for value in item["inputs"]]), flush=True)
