"""Names by which people of the field mean one thing: what a bare name in a cut-out function stands for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sandbox.package_names import distribution_for, find_module_replacement

GONE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "apply": "f(*args)",
        "basestring": "str",
        "buffer": "memoryview",
        "cmp": "(a > b) - (a < b)",
        "coerce": "",
        "execfile": "exec",
        "file": "open",
        "intern": "sys.intern",
        "long": "int",
        "raw_input": "input",
        "reduce": "functools.reduce",
        "reload": "importlib.reload",
        "unichr": "chr",
        "unicode": "str",
        "xrange": "range",
    }
)
"""Builtins of Python 2, with what took their place ("" for nothing)."""

# Module: names that are imported from it so often that they mean it wherever they stand alone.
_FROM_STANDARD = {
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "contextlib": "closing contextmanager nullcontext redirect_stdout suppress",
    "copy": "copy deepcopy",
    "dataclasses": "asdict dataclass",
    "datetime": "date datetime timedelta timezone",
    "decimal": "Decimal ROUND_HALF_UP",
    "distutils.util": "strtobool",
    "enum": "Enum IntEnum",
    "fractions": "Fraction",
    "functools": "lru_cache partial total_ordering wraps",
    "glob": "glob",
    "html": "unescape",
    "io": "BytesIO StringIO TextIOWrapper",
    "itertools": "chain combinations count cycle groupby islice izip izip_longest permutations product "
    "repeat starmap takewhile tee zip_longest",
    "math": "atan2 ceil cos exp floor log log10 pi radians sin sqrt",
    "multiprocessing": "Pool Process cpu_count",
    "numbers": "Integral Number Real",
    "operator": "attrgetter itemgetter mul",
    "os": "getcwd getenv listdir makedirs path",
    "os.path": "basename dirname exists expanduser isdir isfile join",
    "pathlib": "Path PurePath",
    "pprint": "pprint pformat PrettyPrinter",
    "random": "choice randint random sample shuffle uniform",
    "shutil": "copyfile rmtree",
    "string": "Template ascii_letters ascii_lowercase digits",
    "struct": "pack unpack unpack_from",
    "subprocess": "CalledProcessError PIPE Popen STDOUT check_call check_output",
    "tempfile": "NamedTemporaryFile TemporaryDirectory mkdtemp mkstemp",
    "textwrap": "dedent indent wrap",
    "threading": "Event Lock RLock Thread Timer",
    "time": "sleep time",
    "typing": "Any Callable Dict Generic Iterable Iterator List Mapping Optional Sequence Set Tuple Type "
    "TypeVar Union",
    "urllib.parse": "quote quote_plus unquote urlencode urljoin urlsplit urlunparse urlparse",
    "urllib.request": "Request urlopen urlretrieve",
    "warnings": "warn",
    "xml.etree": "ElementTree",
}
_FROM_DISTRIBUTIONS = {
    "beautifulsoup4": "BeautifulSoup",
    "django": "HttpResponse HttpResponseRedirect get_object_or_404 render_to_response",
    "flask": "jsonify render_template",
    "lxml": "etree",
    "matplotlib": "FuncFormatter plt pyplot",
    "networkx": "nx",
    "numpy": "_np asarray ndarray np",
    "pandas": "DataFrame pd",
    "pillow": "Image ImageDraw ImageFont",
    "scipy": "sp",
    "seaborn": "sns",
    "six": "PY2 PY3 binary_type iteritems itervalues string_types text_type viewitems",
    "SQLAlchemy": "sessionmaker",
    "tensorflow": "K tf",
}
_SHORT_FOR = {"dt": "datetime", "ET": "xml.etree.ElementTree", "osp": "os.path", "tk": "tkinter"}
_MODULES = """
    IPython PIL aiohttp arrow astropy attr boto boto3 bs4 bson celery cffi chardet click colorama
    cv2 dateutil dill discord django docker flask gensim gevent git h5py ipywidgets jinja2 joblib
    jsonschema keras ldap lxml markdown matplotlib mock netCDF4 networkx nltk numba numexpr numpy
    openpyxl pandas paramiko pexpect pkg_resources psutil psycopg2 pyarrow pycurl pygments pylab
    pymongo pymysql pyparsing pytest pytz pywintypes redis regex requests rospy scipy seaborn serial
    simplejson six skimage sklearn spacy sqlalchemy statsmodels sympy tabulate tensorflow termcolor
    theano torch tornado tqdm twisted tzlocal ujson unidecode urllib3 werkzeug win32api win32con
    win32gui wx xarray xlrd xmltodict yaml zmq zope
"""
# Modules whose names are common words: by themselves they say nothing.
_COMMON_WORDS = frozenset({"code", "parser", "profile", "site", "symbol", "test", "this", "token", "types"})
_OF_FUNCTIONS = frozenset({"math", "random", "shutil", "struct", "textwrap", "time", "warnings"})
"""Modules from which functions are imported: `log.info` is no logarithm."""


def _by_name(table: Mapping[str, str]) -> dict[str, str]:
    return {name: source for source, names in table.items() for name in names.split()}


_STANDARD: Final = _by_name(_FROM_STANDARD) | _SHORT_FOR
_DISTRIBUTIONS: Final = _by_name(_FROM_DISTRIBUTIONS)
_KNOWN_MODULES: Final = frozenset(_MODULES.split())


def of_standard_library(name: str, as_module: bool) -> str | None:
    """The module that `name` is, or comes from; None where it means nothing in the standard library.

    `as_module`: something of it is used, `name.something`.
    """
    if as_module and name in sys.stdlib_module_names and find_module_replacement(name) is None:
        return None if name in _COMMON_WORDS else name
    source = _STANDARD.get(name)
    return None if as_module and source in _OF_FUNCTIONS else source


def of_distribution(name: str, as_module: bool) -> str | None:
    """The distribution that `name` is a module of, or comes from; None for a name that says nothing."""
    if name in _DISTRIBUTIONS:
        return _DISTRIBUTIONS[name]
    return distribution_for(name) if as_module and name in _KNOWN_MODULES else None
