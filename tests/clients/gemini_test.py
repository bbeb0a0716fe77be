"""Validates the Gemini list with Google's own package.

Its types reject unknown members, in declarations and in schemas, at every level.
"""

import httpx
import pydantic
import pytest
from google.genai import types

EVERY = "?version=all&skip_incompatible=true"


@pytest.fixture(params=["address", "fixtures_address"])
def tools(request):
    """The list of each Worker, all versions of its tools."""
    base = request.getfixturevalue(request.param)
    reply = httpx.get(f"{base}/providers/gemini/tools{EVERY}", timeout=120)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_t3_1_the_list_is_a_value_of_tools(tools):
    config = types.GenerateContentConfig.model_validate({"tools": tools}).tools
    assert len(config) == 1 and config[0].function_declarations
    for declaration in tools[0]["functionDeclarations"]:
        read = types.FunctionDeclaration.model_validate(declaration)
        assert read.model_dump(by_alias=True, exclude_unset=True) == declaration


def test_t5_4_every_schema_is_in_googles_subset(tools):
    for declaration in tools[0]["functionDeclarations"]:
        schema = types.JSONSchema.model_validate(declaration["parametersJsonSchema"])
        assert schema.type == types.JSONSchemaType.OBJECT


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "allOf": []},
        {"type": "object", "properties": {"p": {"const": 1}}},
        {"type": "object", "properties": {"p": {"anyOf": [{"not": {}}]}}},
        {"type": "array", "items": {"exclusiveMinimum": 1}},
    ],
)
def test_the_package_rejects_other_schemas(schema):
    with pytest.raises(pydantic.ValidationError):
        types.JSONSchema.model_validate(schema)


def test_the_package_rejects_members_of_other_providers():
    with pytest.raises(pydantic.ValidationError):
        types.FunctionDeclaration.model_validate({"name": "f", "input_schema": {}})
