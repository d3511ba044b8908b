"""The one API: the apps' routers, one way of signing in, one shape of errors, and its documentation."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, URLResolver
from ninja import NinjaAPI, Swagger
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from annotation.accounts.roles import Role
from annotation.api import router as annotation_router
from annotation.api.shared.auth import signed_in
from annotation.api.shared.examples import EXAMPLES
from cosqa_site import errors
from retrieval.api import router as retrieval_router

DESCRIPTION = """\
Read queries, candidates, cases and executions; launch and control builds; give reviews.

Sign in with a bearer token (`cosqa admin token USER --name NAME`) or with the browser's session.
Reading needs the role reader, reviews the role expert, launching and controlling the role admin.

Lists come in pages: send `next` of one page as `after` to get the following one.
Money is in dollars, as exact decimal text. Errors are
`application/problem+json`; their `type` names them for programs.
"""
PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457).",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:cosqa:launch-refused"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what to do about it"},
        "errors": {"type": "array", "items": {"type": "object"}, "description": "each wrong value"},
        "stored": {"description": "of a conflict: the current review"},
    },
}
PROBLEMS = {
    "description": "Refused: see the problem's type and detail.",
    "content": {errors.CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


class Documentation(Swagger):
    """The page of the documentation, of our template and files alone.

    The library shows its own page, with files of a server on the internet, where it is no installed app.
    """

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        told = {**self.settings, "url": self.get_openapi_url(api, kwargs)}
        context = {"swagger_settings": told, "api": api, "add_csrf": True}
        return render(request, self.template, context)


class WorkbenchAPI(NinjaAPI):
    """Short operation ids, errors in the schema, and a 401 instead of the way to the login page."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**options)
        schema["components"]["schemas"]["Problem"] = PROBLEM
        for methods in schema["paths"].values():
            for operation in methods.values():
                operation["responses"]["default"] = PROBLEMS
                show_example(operation)
        return schema

    @property
    def urls(self) -> tuple[list[URLResolver | URLPattern], str, str]:
        """The routes. Operations refuse by themselves; the page of the documentation sends to the login."""
        routes, app, namespace = super().urls
        for route in routes:
            if isinstance(route, URLPattern) and route.name != "openapi-view":
                login_not_required(route.callback)
        return routes, app, namespace


def show_example(operation: dict[str, Any]) -> None:
    """Put the operation's example beside the schema of its body, where it takes one."""
    for content in operation.get("requestBody", {}).get("content", {}).values():
        content["example"] = EXAMPLES[operation["operationId"]]


api = WorkbenchAPI(
    title="CoSQA Workbench",
    version="1",
    description=DESCRIPTION,
    urls_namespace="api",
    auth=signed_in(Role.READER),
    # The validator's badge would ask a server on the internet about our schema.
    docs=Documentation(
        settings={"validatorUrl": None, "tryItOutEnabled": True, "docExpansion": "list", "deepLinking": False}
    ),
)
errors.register_error_handlers(api)
api.add_router("/collections", retrieval_router)
api.add_router("", annotation_router)
