"""Every contract against the Worker: schemathesis sends valid and invalid requests, and must report nothing.

tests/support/contract.mjs checks the responses of all other tests. Only this test knows which requests a contract
calls valid and which not.
"""

import json
from pathlib import Path

import pytest
import schemathesis
from schemathesis import GenerationMode
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.engine import from_schema
from schemathesis.engine.events import FatalError, NonFatalError, ScenarioFinished
from schemathesis.openapi.checks import RejectedPositiveData

ROOT = Path(__file__).parent.parent.parent
CONTRACTS = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "docs/contracts").glob("*.json"))}
CONFIG = ROOT / "tests/support/schemathesis.toml"

# Rejections of valid requests for reasons that a contract cannot express: the server's tools, and members that exclude
# or repeat each other in different places.
CODES = ["invalid_tool_arguments", "tool_not_found", "tool_schema_incompatible"]
MESSAGES = ["was not found", "there is no toolkit", "none of the selected tools", "state was not issued", "is in the query and in", "must be the same"]
# The last: whether the server takes a company's assertions is up to its configuration.
OAUTH_ERRORS = ["invalid_client", "invalid_grant", "invalid_redirect_uri", "invalid_request", "invalid_target", "unsupported_grant_type"]
SELECTION = {"include", "strict", "strict_schemas", "toolkit", "version"}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops what is no fault."""
    if isinstance(failure, AcceptedNegativeData):
        return not is_json_rpc_error(response)
    if isinstance(failure, RejectedPositiveData):
        return not is_for_another_reason(case, response)
    return True


def is_json_rpc_error(response):
    """JSON-RPC rejects with 200."""
    body = response.json() if response.content.startswith(b"{") else {}
    return body.get("jsonrpc") == "2.0" and "error" in body


def is_for_another_reason(case, response):
    """Whether a valid request was rejected for a reason that the contract cannot express."""
    if response.status_code == 422:
        return True
    if response.status_code != 400:
        return False
    if response.headers["content-type"][0].startswith("text/html"):  # The page for an unknown challenge.
        return True
    if case.method == "HEAD":
        return not SELECTION.isdisjoint(case.query)
    body = response.json()
    error = body.get("error", body)
    if isinstance(error, str):  # OAuth: a client, a code or a token that is made up.
        return error in OAUTH_ERRORS
    return isinstance(error, dict) and (
        error.get("code") in CODES or any(text in f"{error.get('message')} {error.get('developer_message')} {error.get('detail')}" for text in MESSAGES)
    )


def problems(document, address, headers={}, only_statuses=False):
    """What schemathesis reports about the Worker at `address`. `only_statuses` sends a few valid requests."""
    schema = schemathesis.openapi.from_dict(document, config=schemathesis.Config.from_path(CONFIG))
    base = document["servers"][0]["url"].rstrip("/")
    schema.config.update(base_url=address + base, headers=headers, continue_on_failure=True)
    if only_statuses:
        schema.config.phases.update(phases=["fuzzing"])
        schema.config.generation.update(modes=[GenerationMode.POSITIVE], max_examples=2)
    requests, found = 0, []
    for event in from_schema(schema).execute():
        if isinstance(event, FatalError):
            raise event.exception
        if isinstance(event, NonFatalError):
            found.append(f"{event.label}: {event.value}")
        if isinstance(event, ScenarioFinished):
            requests += len(event.recorder.interactions)
            checks = [check for checks in event.recorder.checks.values() for check in checks]
            failures = [check.failure_info for check in checks if check.failure_info]
            found += [f"{event.label}: {one.failure.title}: {one.failure.message}\n{one.code_sample}" for one in failures]
    assert requests > 2 * len(document["paths"]), "hardly any requests were sent"
    return found


# The path where clients would register accepts no request, so there is no valid one to send. Only a Worker whose tools run as tasks
# has these.
each_contract = pytest.mark.parametrize("name", [name for name in CONTRACTS if name not in ("registration", "tasks")])


@each_contract
def test_with_valid_credentials(authorizing, name):
    assert problems(CONTRACTS[name], authorizing.address, authorizing.new_user()) == []


@pytest.mark.parametrize("name", ["account", "oauth", "well-known"])
def test_where_people_sign_in(signing_in, name):
    assert problems(CONTRACTS[name], signing_in.address) == []


@each_contract
def test_where_anybody_may_call(address, name):
    assert problems(CONTRACTS[name], address, only_statuses=True) == []


@pytest.mark.parametrize("name", ["jsonrpc", "langchain", "mcp", "opentool", "otc", "oxp", "oxp-1.0", "provider-lists", "rest", "xaibo"])
def test_with_a_catalogue_of_definitions(toolkits_address, name):
    assert problems(CONTRACTS[name], toolkits_address, only_statuses=True) == []


def test_with_tasks(tasks_address):
    assert problems(CONTRACTS["tasks"], tasks_address) == []


@each_contract
def test_without_credentials(authorizing, name):
    assert problems(CONTRACTS[name], authorizing.address, only_statuses=True) == []


@each_contract
def test_from_a_foreign_origin(authorizing, name):
    headers = {"Origin": "https://foreign.example", **authorizing.new_user()}
    assert problems(CONTRACTS[name], authorizing.address, headers, only_statuses=True) == []


def without_a_status(contract):
    del contract["paths"]["/tools"]["get"]["responses"]["401"]


def with_another_header(contract):
    contract["components"]["headers"]["WWWAuthenticate"]["schema"] = {"const": "Basic"}


def with_another_body(contract):
    contract["components"]["schemas"]["ToolFailure"]["properties"]["error"] = {"type": "integer"}


def with_a_looser_request(contract):
    contract["components"]["schemas"]["Execute"]["required"] = []


def with_a_stricter_request(contract):
    contract["components"]["schemas"]["Execute"]["properties"]["tool_name"] = {"const": "Calculator_Add"}


def without_a_method(contract):
    del contract["paths"]["/execute"]["post"]


@pytest.mark.parametrize(
    ("change", "reported", "has_credentials"),
    [
        (without_a_status, "Undocumented status code", False),
        (with_another_header, "Response header does not conform", False),
        (with_another_body, "Response violates schema", False),
        (with_a_looser_request, "Schema-valid request rejected", True),
        (with_a_stricter_request, "Schema-violating request accepted", True),
        (without_a_method, "Allow header mismatch", True),
    ],
)
def test_reports_a_wrong_contract(authorizing, change, reported, has_credentials):
    contract = json.loads(json.dumps(CONTRACTS["xaibo"]))
    change(contract)
    headers = authorizing.new_user() if has_credentials else {}
    found = problems(contract, authorizing.address, headers)
    assert any(reported in one for one in found), found
