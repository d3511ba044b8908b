"""URLs, headers and markup."""

import html
import re
from urllib.parse import (
    parse_qs,
    parse_qsl,
    quote,
    unquote_plus,
    urlencode,
    urlsplit,
)


def query_params(url):
    """Get the query parameters of a URL as a dictionary of lists."""
    return parse_qs(urlsplit(url).query)


def query_dict(url):
    """Return the query parameters from a URL as a dict."""
    return dict(parse_qsl(urlsplit(url).query))


def split_query(url):
    """Get the parameters of a URL as a dict by splitting at the question mark."""
    query = url.split("?", 1)[1]
    return dict(pair.split("=") for pair in query.split("&"))


def parse_query(url):
    """Parse the query parameters of a URL into a dict."""
    return parse_qs(url)


def first_query_values(url):
    """Get URL parameters as a dict that holds the first value of each."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def query_params_unquoted(url):
    """Get the query parameters from a URL as a dict, percent signs decoded."""
    params = {}
    for pair in urlsplit(url).query.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            params[unquote_plus(name)] = unquote_plus(value)
    return params


def get_query_param(url, name, default=None):
    """Get one query parameter from a URL."""
    return parse_qs(urlsplit(url).query).get(name, [default])[0]


def build_url(base, params):
    """Build a URL from a base and a dict of query parameters."""
    return base + "?" + urlencode(params) if params else base


def quote_title(title):
    """Quote a title so that it can be used in a URL."""
    return quote(title, safe="")


def strip_tags(markup):
    """Remove the tags from a piece of HTML."""
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def preferred_language(header, available=("en",)):
    """Detect the preferred language of a reader from an Accept-Language header."""
    wanted = []
    for part in header.split(","):
        tag, _, quality = part.strip().partition(";q=")
        wanted.append((float(quality or 1), tag.split("-")[0].lower()))
    for _, tag in sorted(wanted, key=lambda item: -item[0]):
        if tag in available:
            return tag
    return available[0]
