"""Which distribution holds a module, and which modules Python no longer has.

The table is our own on purpose. The best-known one, pipreqs's, has 829 modules: two dozen name a distribution
that the index does not have (whoever registers it is installed), 460 one without an upload since 2020, and
some replace the standard library (`queue`, `enum`, `readline`). Here are only true mismatches, each with the
distribution that people mean by that name today.
"""

import re
import sys

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_]{0,62}[A-Za-z0-9])?")

# Distribution: the modules that are not called like it.
_MODULES = {
    "attrs": "attr",
    "beautifulsoup4": "bs4 BeautifulSoup",
    "biopython": "Bio BioSQL",
    "configobj": "validate",
    "cython": "pyximport",
    "discord.py": "discord",
    "django-cors-headers": "corsheaders",
    "django-crispy-forms": "crispy_forms",
    "django-filter": "django_filters",
    "django-model-utils": "model_utils",
    "django-mptt": "mptt",
    "django-parler": "parler",
    "django-storages": "storages",
    "django-taggit": "taggit",
    "djangorestframework": "rest_framework",
    "dnspython": "dns",
    "faiss-cpu": "faiss",
    "future": "past libfuturize libpasteurize",
    "GitPython": "git",
    "google-api-python-client": "apiclient googleapiclient",
    "jpype1": "jpype",
    "libsass": "sass",
    "line-profiler": "kernprof",
    "matplotlib": "mpl_toolkits pylab",
    "mysqlclient": "MySQLdb",
    "opencv-python-headless": "cv cv2",
    "paho-mqtt": "paho",
    "peewee": "playhouse",
    "pillow": "Image ImageChops ImageDraw ImageFont PIL",
    "progressbar2": "progressbar",
    "protobuf": "google",
    "psycopg2-binary": "psycopg2",
    "py-cpuinfo": "cpuinfo",
    "pycairo": "cairo",
    "pycryptodome": "Crypto",
    "pycryptodomex": "Cryptodome",
    "pycups": "cups",
    "pyelftools": "elftools",
    "pyenchant": "enchant",
    "PyGithub": "github",
    "PyGObject": "gi",
    "PyHamcrest": "hamcrest",
    "PyJWT": "jwt",
    "pymongo": "bson gridfs",
    "PyMuPDF": "fitz",
    "PyNaCl": "nacl",
    "PyOpenGL": "OpenGL",
    "pyOpenSSL": "OpenSSL",
    "pypng": "png",
    "pyserial": "serial",
    "pyshp": "shapefile",
    "PySocks": "socks sockshandler",
    "PyStemmer": "Stemmer",
    "pytest": "_pytest",
    "python-barcode": "barcode",
    "python-can": "can",
    "python-crfsuite": "pycrfsuite",
    "python-crontab": "crontab cronlog",
    "python-daemon": "daemon",
    "python-dateutil": "dateutil",
    "python-debian": "deb822 debian debian_bundle",
    "python-decouple": "decouple",
    "python-docx": "docx",
    "python-dotenv": "dotenv",
    "python-engineio": "engineio",
    "python-frontmatter": "frontmatter",
    "python-jose": "jose",
    "python-json-logger": "pythonjsonlogger",
    "python-ldap": "ldap ldapurl ldif",
    "python-Levenshtein": "Levenshtein",
    "python-magic": "magic",
    "python-memcached": "memcache",
    "python-pptx": "pptx",
    "python-slugify": "slugify",
    "python-snappy": "snappy",
    "python-socketio": "socketio",
    "python-stdnum": "stdnum",
    "python-telegram-bot": "telegram",
    "pyusb": "usb",
    "PyWavelets": "pywt",
    "pywin32": "pythoncom pywintypes win32api win32com win32con win32gui win32process win32service",
    "pyxdg": "xdg",
    "PyYAML": "yaml",
    "pyzmq": "zmq",
    "readability-lxml": "readability",
    "robotframework": "robot",
    "ruamel.yaml": "ruamel",
    "scikit-bio": "skbio",
    "scikit-image": "skimage",
    "scikit-learn": "sklearn",
    "SpeechRecognition": "speech_recognition",
    "setuptools": "pkg_resources",
    "toolz": "tlz",
    "umap-learn": "umap",
    "websocket-client": "websocket",
    "wxPython": "wx",
}

# Modules of Python 2, with what took their place in Python 3.
_PYTHON_2 = {
    "BaseHTTPServer": "http.server",
    "Bastion": "",
    "CGIHTTPServer": "http.server",
    "ConfigParser": "configparser",
    "Cookie": "http.cookies",
    "Dialog": "tkinter.dialog",
    "DocXMLRPCServer": "xmlrpc.server",
    "FileDialog": "tkinter.filedialog",
    "HTMLParser": "html.parser",
    "MimeWriter": "email",
    "Queue": "queue",
    "ScrolledText": "tkinter.scrolledtext",
    "SimpleDialog": "tkinter.simpledialog",
    "SimpleHTTPServer": "http.server",
    "SimpleXMLRPCServer": "xmlrpc.server",
    "SocketServer": "socketserver",
    "StringIO": "io",
    "Tix": "tkinter.ttk",
    "Tkconstants": "tkinter.constants",
    "Tkinter": "tkinter",
    "UserDict": "collections",
    "UserList": "collections",
    "UserString": "collections",
    "__builtin__": "builtins",
    "_winreg": "winreg",
    "anydbm": "dbm",
    "cPickle": "pickle",
    "cStringIO": "io",
    "commands": "subprocess",
    "compiler": "ast",
    "cookielib": "http.cookiejar",
    "copy_reg": "copyreg",
    "dbhash": "dbm",
    "dircache": "os",
    "dumbdbm": "dbm.dumb",
    "dummy_thread": "threading",
    "exceptions": "builtins",
    "fpformat": "",
    "future_builtins": "builtins",
    "gdbm": "dbm.gnu",
    "htmlentitydefs": "html.entities",
    "htmllib": "html.parser",
    "httplib": "http.client",
    "ihooks": "importlib",
    "imputil": "importlib",
    "md5": "hashlib",
    "mhlib": "mailbox",
    "mimetools": "email",
    "mimify": "email",
    "multifile": "email",
    "mutex": "threading",
    "new": "types",
    "os2emxpath": "os.path",
    "popen2": "subprocess",
    "posixfile": "fcntl",
    "repr": "reprlib",
    "rexec": "",
    "rfc822": "email",
    "robotparser": "urllib.robotparser",
    "sets": "builtins",
    "sgmllib": "html.parser",
    "sha": "hashlib",
    "statvfs": "os",
    "stringold": "string",
    "strop": "string",
    "thread": "_thread",
    "tkColorChooser": "tkinter.colorchooser",
    "tkCommonDialog": "tkinter.commondialog",
    "tkFileDialog": "tkinter.filedialog",
    "tkFont": "tkinter.font",
    "tkMessageBox": "tkinter.messagebox",
    "tkSimpleDialog": "tkinter.simpledialog",
    "toaiff": "",
    "ttk": "tkinter.ttk",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "user": "",
    "whichdb": "dbm",
    "xmllib": "xml.sax",
    "xmlrpclib": "xmlrpc.client",
}

# Modules that Python 3 had and gave up, by the version that has them no more: `name` or `name=what took its
# place`.
_REMOVED = {
    "3.9": "_dummy_thread=threading dummy_threading=threading symbol=ast",
    "3.10": "formatter parser=ast",
    "3.11": "binhex",
    "3.12": "asynchat=asyncio asyncore=asyncio distutils=setuptools imp=importlib smtpd",
    "3.13": "aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev pipes "
    "sndhdr spwd sunau telnetlib uu xdrlib",
}

_DISTRIBUTIONS = {module: name for name, modules in _MODULES.items() for module in modules.split()}
_REMOVED_IN = {
    item.partition("=")[0]: version for version, items in _REMOVED.items() for item in items.split()
}
_VANISHED = _PYTHON_2 | {
    item.partition("=")[0]: item.partition("=")[2] for items in _REMOVED.values() for item in items.split()
}


def distribution_for(module: str) -> str | None:
    """The distribution that holds a module, or None where none can: standard library, Python 2, not a name.

    >>> distribution_for("yaml.loader"), distribution_for("requests"), distribution_for("urllib2")
    ('PyYAML', 'requests', None)
    """
    top = module.partition(".")[0]
    if explain_unsearchable_module(top):
        return None
    if top in _DISTRIBUTIONS:
        return _DISTRIBUTIONS[top]
    return top.replace("_", "-") if _NAME.fullmatch(top) else None


def find_module_replacement(module: str) -> str | None:
    """What took the place of a module that Python no longer has ("" for nothing), or None."""
    return _VANISHED.get(module.partition(".")[0])


def explain_unsearchable_module(module: str) -> str | None:
    """Why no distribution is searched for a module that is missing, in one sentence; None where one may be.

    >>> unsearchable("urllib2")
    'urllib2 is a module of Python 2; urllib.request took its place'
    """
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return f"{top} is a module of the standard library that the sandbox does not have"
    if top not in _VANISHED:
        return None
    version = _REMOVED_IN.get(top)
    said = f"was removed in Python {version}" if version else "is a module of Python 2"
    return f"{top} {said}; {_VANISHED[top] or 'nothing'} took its place"


def normalize_distribution_name(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
