"""Names of things: identifiers, slugs, file names."""

import re
import unicodedata

import inflection
from slugify import slugify


def camel_to_snake(name):
    """Convert a CamelCase name to snake_case, keeping runs of capitals together."""
    spaced = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


def decamelize(name):
    """Convert camel case to snake case: an underscore before each capital but the first."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def camel_to_snake_loop(name):
    """Convert a camelCase string to snake_case character by character."""
    result = ""
    for character in name:
        if character.isupper():
            result += "_" + character.lower()
        else:
            result += character
    return result


def snake_to_camel(name):
    """Convert a snake_case name to camelCase."""
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def snake_to_pascal(name):
    """Convert snake case to CamelCase with a capital at the start."""
    return "".join(part.capitalize() for part in name.split("_"))


def camel_to_kebab(name):
    """Convert a CamelCase name to kebab-case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def underscore_name(name):
    """Convert camel case to snake case with the inflection package."""
    return inflection.underscore(name)


def to_snake_case(phrase):
    """Convert a phrase to snake case."""
    return re.sub(r"[\s\-]+", "_", phrase.strip()).lower()


def snake_case_keys(mapping):
    """Convert the camelCase keys of a dictionary to snake_case."""
    return {to_snake(key): value for key, value in mapping.items()}


def slugify_title(title):
    """Turn a title into a slug for a URL: ASCII, lower case, words joined by hyphens."""
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", ascii_title.lower()).strip("-")


def simple_slug(title):
    """Make a URL slug of a title."""
    return title.lower().replace(" ", "-")


def slug_from_title(title, max_length=60):
    """Slugify a title for use in a URL, cut to a maximum length."""
    return slugify(title, max_length=max_length, word_boundary=True)


def loose_slug(title):
    """Slugify a title: everything but letters and digits becomes a hyphen."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower())


def unique_slug(title, taken):
    """Slugify a title for a URL and number the slug if it is taken already."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
    base = "-".join(re.findall(r"[a-z0-9]+", plain.lower()))
    slug, number = base, 2
    while slug in taken:
        slug = f"{base}-{number}"
        number += 1
    return slug


def title_from_slug(slug):
    """Turn the slug of a URL back into a title."""
    return slug.replace("-", " ").strip().capitalize()


def is_slug(text):
    """Tell whether a title for a URL is a slug already."""
    return bool(re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", text))
