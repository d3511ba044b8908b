"""Which modules a corpus of functions needs, and what of them the execution image has.

A function that was cut out of its file has lost that file's imports. So beside its own `import` statements
the names count that it uses without binding them, where by custom they are modules (`np.zeros`,
`requests.get`).
"""

import ast
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox.candidate.syntax import UNREADABLE, parse_python_source
from sandbox.package_names import distribution_for, normalize_distribution_name
from sandbox.pip_install import load_pinned_requirements
from sandbox.program import Program

# Names under which modules are used where no import is in sight, with the module.
_CUSTOM = {
    "BeautifulSoup": "bs4",
    "Image": "PIL",
    "ImageDraw": "PIL",
    "ImageFont": "PIL",
    "etree": "lxml",
    "np": "numpy",
    "nx": "networkx",
    "pd": "pandas",
    "plt": "matplotlib",
    "pyplot": "matplotlib",
    "sns": "seaborn",
    "tf": "tensorflow",
}
LARGE_LIBRARIES = ("pandas", "numpy")
"""Those that are worth loading ahead; each loads the ones after it."""
_OWN_NAMES = """
    IPython PIL aiohttp arrow boto boto3 bs4 bson celery chardet click colorama cv2 dateutil dill discord
    django docker flask gensim gevent h5py jinja2 joblib jsonschema keras ldap lxml matplotlib mock
    networkx nltk numba numpy openpyxl pandas paramiko pexpect psutil psycopg2 pygments pylab pymongo
    pymysql pytest pytz redis regex requests scipy seaborn simplejson six skimage sklearn spacy sqlalchemy
    statsmodels sympy tabulate tensorflow termcolor torch tornado tqdm tzlocal ujson unidecode urllib3
    werkzeug wx xlrd xmltodict yaml zmq
"""
_MODULES = frozenset({*_OWN_NAMES.split(), *_CUSTOM.values(), *sys.stdlib_module_names})


class Need(StrEnum):
    """Where the modules of a function come from; of several the last in this order."""

    STANDARD = "the standard library is enough"
    IMAGE = "the image has all"
    INSTALLED = "something is installed first"
    MISSING = "something cannot be had: a module of Python 2, or removed since"
    UNREADABLE = f"not Python {sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many functions have which need, and how many need each module that the image lacks."""

    needs: dict[Need, int]
    lacking: dict[str, int]

    @property
    def functions(self) -> int:
        return sum(self.needs.values())

    def share(self, *needs: Need) -> float:
        """The share of the functions with one of these needs; 0 of none."""
        return sum(self.needs[need] for need in needs) / self.functions if self.functions else 0.0


def measure_import_coverage(functions: Iterable[str], bare: bool = True) -> Coverage:
    """What the functions of a corpus need; without `bare` by their import statements alone."""
    needs: Counter[Need] = Counter()
    lacking: Counter[str] = Counter()
    for text in functions:
        modules = modules_of(text, bare)
        found = {module: need_of_module(module) for module in modules or ()}
        needs[Need.UNREADABLE if modules is None else _worst(found.values())] += 1
        lacking.update(module for module, one in found.items() if one in (Need.INSTALLED, Need.MISSING))
    return Coverage({one: needs[one] for one in Need}, dict(lacking.most_common()))


def need_of_module(module: str) -> Need:
    """Where one module comes from; that an index has it is not tried."""
    if module in sys.stdlib_module_names:
        return Need.STANDARD
    distribution = distribution_for(module)
    if distribution is None:
        return Need.MISSING
    return (
        Need.IMAGE
        if normalize_distribution_name(distribution)
        in {normalize_distribution_name(requirement.name) for requirement in load_pinned_requirements()}
        else Need.INSTALLED
    )


def modules_of(text: str, bare: bool = True) -> frozenset[str] | None:
    """The top-level modules that a function needs; None when it does not parse."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = parse_python_source(text)
    except UNREADABLE:
        return None
    return frozenset(_imported(tree)) | frozenset(_used(tree) if bare else ())


def find_first_library(program: Program) -> str:
    """The one of LARGE_LIBRARIES that program or candidate imports before anything else, empty for none."""
    texts = program.source, program.code
    if not any(library in text for library in LARGE_LIBRARIES for text in texts):
        return ""
    found = frozenset(name for text in texts for name in _imported_first(text))
    return next((library for library in LARGE_LIBRARIES if library in found), "")


def functions_in(path: Path) -> Iterator[str]:
    """The functions of a file: keys of a JSON object, `code` of a JSON list's items, else the whole file."""
    text = path.read_text()
    if path.suffix == ".py":
        yield text
    else:
        yield from (load if isinstance(load, str) else str(load["code"]) for load in json.loads(text))


def _imported_first(text: str) -> Iterator[str]:
    """The modules that a text imports before its first other statement."""
    try:
        tree = parse_python_source(text)
    except UNREADABLE:
        return
    for place, node in enumerate(tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imported(node)
        elif place or not isinstance(node, ast.Expr):  # a docstring comes before
            return


def _worst(needs: Iterable[Need]) -> Need:
    order = list(Need)
    return max(needs, key=order.index, default=Need.STANDARD)


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _used(tree: ast.AST) -> Iterator[str]:
    bound = frozenset(_names_bound_by(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound:
            module = _CUSTOM.get(node.id, node.id)
            if module in _MODULES:
                yield module


def _names_bound_by(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
