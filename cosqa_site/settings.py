"""All settings, read once from the environment; a wrong value stops the start and says what was expected.

Without any variable set this is the one-machine default: SQLite under `var/`, no broker, no LLM key.
"""

import contextlib
import os
import secrets
import stat
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from cosqa_site.environment import (
    env,
    hide_credentials,
    read_boolean_variable,
    read_choice_variable,
    read_command_variable,
    read_date_variable,
    read_emails_variable,
    read_hosts_variable,
    read_integer_variable,
    read_issuer_variable,
    read_origins_variable,
    read_path_variable,
    read_prefix_variable,
    read_roles_variable,
    read_sender_variable,
    read_text_variable,
    read_url_variable,
    read_users_variable,
    require_package,
)
from sandbox.host_users import USERS
from sandbox.pip_install import PACKAGES_AS_OF

os.umask(0o077)
"""What any process of the workbench writes is for its own user alone: passwords, drafts, blind labels."""
BASE_DIR = Path(__file__).resolve().parent.parent
IS_INSTALLED = BASE_DIR.name == "_app"
"""Whether this is an installed package (`cosqa/_app`), not a checkout."""
SANDBOX_BACKENDS = ("auto", "bubblewrap", "docker", "none")
SHORTEST_KEY = 32


def provider_profile(name: str) -> str:
    """A profile that is shipped, or the path of a .toml file with another. Raises ImproperlyConfigured."""
    shipped = sorted(path.stem for path in (BASE_DIR / "annotation" / "llm" / "providers").glob("*.toml"))
    value = read_text_variable(name, "anthropic")
    if value not in shipped and not (value.endswith(".toml") and Path(value).is_file()):
        known = ", ".join(shipped)
        raise ImproperlyConfigured(f"{name}={value!r}: expected one of {known}, or the path of a .toml file")
    return value


def provider_address(profile: str) -> str:
    """Where a profile says that its provider is; for one that does not say, whose protocol it speaks."""
    path = BASE_DIR / "annotation" / "llm" / "providers" / f"{profile}.toml"
    try:
        known = tomllib.loads((Path(profile) if profile.endswith(".toml") else path).read_text())
    except (OSError, ValueError):
        known = {}  # the system check of profiles says what is wrong with it
    address = known.get("address")
    usual = "https://api.openai.com" if known.get("protocol") == "chat" else "https://api.anthropic.com"
    return address if isinstance(address, str) and address else usual


KNOWN_NAMES = """
    ALLOWED_HOSTS CANARY_ABOVE CANARY_CASES DATABASE_POOL DEBUG DISK_FREE_MB DOCKER_HOST DOWNLOAD_MB
    DOWNLOAD_PRIVATE DRIFT_EVERY EMBEDDINGS_API_KEY EMBEDDINGS_BASE_URL EMBEDDINGS_MODEL EXPORT_DAYS HOME
    HSTS_PRELOAD IMPORT_MB
    LLM_API_KEY LLM_BASE_URL LLM_MODEL LLM_PROFILE LLM_TIMEOUT LLM_TOKENIZER LLM_WORKERS LOG_LEVEL
    NOTIFY_COMMAND NOTIFY_EMAIL NOTIFY_FROM NOTIFY_SECONDS
    OIDC_CLIENT_ID OIDC_CLIENT_SECRET OIDC_ISSUER OIDC_NAME OIDC_ROLES OIDC_ROLE_CLAIM OIDC_SCOPES
    OIDC_UNKNOWN PIP_CUTOFF PIP_UNDATED PREFIX
    RUNS_PER_MINUTE
    SANDBOX SANDBOX_FORKS SANDBOX_IMAGE SANDBOX_LAYERS_GB SANDBOX_RUNTIME SANDBOX_USERS SANDBOX_WORKERS
    SECRET_KEY SECURE SESSION_HOURS
    TEST_DATA TEST_DATABASE_URL TEST_DOCKER TEST_REDIS_URL TEST_STUDIES TOKEN_DAYS TRUSTED_ORIGINS
"""


def known_names() -> list[str]:
    return [f"COSQA_{name}" for name in KNOWN_NAMES.split()]


def refuse_unknown_names() -> None:
    """A misspelt COSQA_ variable would silently do nothing, so it stops the start."""
    unknown = sorted(n for n in env.ENVIRON if n.startswith("COSQA_") and n not in known_names())
    if unknown:
        raise ImproperlyConfigured(
            f"{', '.join(unknown)}: no such setting. Settings are {', '.join(known_names())}"
        )


def folder_of(package: str) -> Path:
    """Where an installed package lies; it is not loaded for that."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ImproperlyConfigured(f"{package} is not installed: install cosqa-workbench again")
    return Path(found.origin).parent


def default_data_folder() -> Path:
    """`var/` of a checkout; where the package is installed, the platform's folder for data of programs."""
    if not IS_INSTALLED:
        return BASE_DIR / "var"
    from platformdirs import user_data_path

    return user_data_path("cosqa", appauthor=False)


def find_data_folder() -> Path:
    """The folder of everything that is written: database, vectors, layers, uploads, exports."""
    folder = Path(read_text_variable("COSQA_HOME") or default_data_folder()).expanduser().resolve()
    try:
        (folder / "static").mkdir(parents=True, exist_ok=True)  # WhiteNoise warns where it is missing
    except OSError as error:
        raise ImproperlyConfigured(
            f"COSQA_HOME={folder}: expected a folder that can be written: {error}"
        ) from error
    close_to_others(folder)
    return folder


def close_to_others(folder: Path) -> None:
    """Take the rights of other users away from the data folder and its files, as older releases left them.

    A folder for everybody's temporary files stays open: it is not the workbench's alone.
    """
    if folder.stat().st_mode & stat.S_ISVTX:
        return
    for path in (folder, *folder.iterdir()):
        mode = path.lstat().st_mode
        if mode & 0o077 and (path == folder or stat.S_ISREG(mode)):
            with contextlib.suppress(OSError):  # another user's, or a file that has just gone
                path.chmod(stat.S_IMODE(mode) & ~0o077)


def secret_key(folder: Path) -> str:
    """The key from the environment, else one made once for this installation and kept beside its data.

    Raises ImproperlyConfigured, without the key, when a given one can be guessed.
    """
    given = read_text_variable("COSQA_SECRET_KEY")
    if given and (len(given) < SHORTEST_KEY or len(set(given)) < 5):
        raise ImproperlyConfigured(
            f"COSQA_SECRET_KEY: expected at least {SHORTEST_KEY} random characters: openssl rand -hex 32"
        )
    if given:
        return given
    path = folder / "secret-key"
    if not path.exists():
        draft = folder / f"secret-key.{os.getpid()}"
        try:
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_urlsafe(64))
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)  # atomic: of two processes that start together, one key wins for both
        finally:
            draft.unlink(missing_ok=True)
    return path.read_text().strip()


def database_settings(folder: Path) -> dict[str, object]:
    """SQLite in WAL mode under `folder`, or the PostgreSQL of DATABASE_URL. Raises ImproperlyConfigured."""
    given = read_url_variable("DATABASE_URL", ("postgres", "postgresql"))
    if not given:
        return sqlite_settings(folder / "workbench.sqlite3")
    require_package("DATABASE_URL", "psycopg")
    from cosqa_site.postgres import PlannedCursor  # needs the driver, which SQLite does without

    config: dict[str, object] = dict(env.db_url_config(given))
    if not config["NAME"]:
        raise ImproperlyConfigured(
            f"DATABASE_URL={hide_credentials(given)!r}: expected postgres://USER@HOST/NAME"
        )
    config["ENGINE"] = "django.db.backends.postgresql"
    config["CONN_MAX_AGE"] = 0
    config["CONN_HEALTH_CHECKS"] = True  # a restarted server leaves dead connections in the pool
    config["OPTIONS"] = {
        "pool": {
            "min_size": 1,
            "max_size": read_integer_variable("COSQA_DATABASE_POOL", 10, 2, 500),
            "timeout": 30,
        },
        "server_side_binding": True,
        "cursor_factory": PlannedCursor,
        "prepare_threshold": 5,  # psycopg's own default, which Django switches off
    }
    return config


def sqlite_settings(path: Path) -> dict[str, object]:
    return {
        "ENGINE": "cosqa_site.sqlite",
        "NAME": path,
        "CONN_MAX_AGE": 60,  # to open the file is to read a schema of 400 tables and indexes: 5 ms a request
        "OPTIONS": {
            "timeout": 30,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-64000;",
        },
        # A file, because SQLite's in-memory shared cache ignores the busy timeout.
        "TEST": {"NAME": path.with_name("test.sqlite3")},
    }


refuse_unknown_names()
COSQA_HOME = find_data_folder()
DEBUG = read_boolean_variable("COSQA_DEBUG", False)
SECURE = read_boolean_variable("COSQA_SECURE", False)
SECRET_KEY = secret_key(COSQA_HOME)
ALLOWED_HOSTS = read_hosts_variable("COSQA_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
PREFIX = read_prefix_variable("COSQA_PREFIX")
"""Below which path of its host the site lies; empty for the host's root."""
FORCE_SCRIPT_NAME = PREFIX or None
CSRF_TRUSTED_ORIGINS = read_origins_variable("COSQA_TRUSTED_ORIGINS")

SANDBOX_BACKEND = read_choice_variable("COSQA_SANDBOX", SANDBOX_BACKENDS)
SANDBOX_FORKS = read_boolean_variable("COSQA_SANDBOX_FORKS", False)
SANDBOX_IMAGE = read_text_variable("COSQA_SANDBOX_IMAGE")
SANDBOX_RUNTIME = read_text_variable("COSQA_SANDBOX_RUNTIME")
SANDBOX_USERS = read_users_variable("COSQA_SANDBOX_USERS", USERS)
DOCKER_HOST = read_url_variable("COSQA_DOCKER_HOST", ("unix", "tcp", "ssh"))
PIP_CUTOFF = read_date_variable("COSQA_PIP_CUTOFF", PACKAGES_AS_OF)
PIP_UNDATED = read_boolean_variable("COSQA_PIP_UNDATED", False)
SANDBOX_LAYERS_GB = read_integer_variable("COSQA_SANDBOX_LAYERS_GB", 10, 1, 10_000)
SANDBOX_WORKERS = read_integer_variable("COSQA_SANDBOX_WORKERS", 2, 1, 256)

LLM_PROFILE = provider_profile("COSQA_LLM_PROFILE")
LLM_API_KEY = read_text_variable("COSQA_LLM_API_KEY")
ANTHROPIC_API_KEY = read_text_variable("ANTHROPIC_API_KEY")
OPENAI_API_KEY = read_text_variable("OPENAI_API_KEY")
DEEPSEEK_API_KEY = read_text_variable("DEEPSEEK_API_KEY")
OPENROUTER_API_KEY = read_text_variable("OPENROUTER_API_KEY")
LLM_BASE_URL = read_url_variable("COSQA_LLM_BASE_URL", ("https", "http")) or provider_address(LLM_PROFILE)
LLM_MODEL = read_text_variable("COSQA_LLM_MODEL", "claude-haiku-4-5")
LLM_TIMEOUT = read_integer_variable("COSQA_LLM_TIMEOUT", 120, 5, 3600)
LLM_TOKENIZER = read_path_variable(
    "COSQA_LLM_TOKENIZER", "the path of a tokenizer.json, or of a folder with several"
)
LLM_WORKERS = read_integer_variable("COSQA_LLM_WORKERS", 4, 1, 256)
CANARY_ABOVE = read_integer_variable("COSQA_CANARY_ABOVE", 2000, 0, 999_999_999)
CANARY_CASES = read_integer_variable("COSQA_CANARY_CASES", 200, 10, 10_000)
DRIFT_EVERY = read_integer_variable("COSQA_DRIFT_EVERY", 10_000, 100, 999_999_999)
DISK_FREE_MB = read_integer_variable("COSQA_DISK_FREE_MB", 50, 0, 1_000_000)
DOWNLOAD_MB = read_integer_variable("COSQA_DOWNLOAD_MB", 2000, 1, 1_000_000)
DOWNLOAD_PRIVATE = read_boolean_variable("COSQA_DOWNLOAD_PRIVATE", False)
IMPORT_MB = read_integer_variable("COSQA_IMPORT_MB", 4096, 256, 1_000_000)
EXPORT_DAYS = read_integer_variable("COSQA_EXPORT_DAYS", 7, 0, 36_500)
SESSION_COOKIE_AGE = 3600 * read_integer_variable("COSQA_SESSION_HOURS", 12, 1, 8760)
TOKEN_DAYS = read_integer_variable("COSQA_TOKEN_DAYS", 90, 1, 3650)
RUNS_PER_MINUTE = read_integer_variable("COSQA_RUNS_PER_MINUTE", 60, 1, 100_000)

NOTIFY_EMAIL = read_emails_variable("COSQA_NOTIFY_EMAIL")
NOTIFY_FROM = read_sender_variable("COSQA_NOTIFY_FROM", "workbench@localhost")
EMBEDDINGS_BASE_URL = read_url_variable("COSQA_EMBEDDINGS_BASE_URL", ("https", "http"))
EMBEDDINGS_API_KEY = read_text_variable("COSQA_EMBEDDINGS_API_KEY")
EMBEDDINGS_MODEL = read_text_variable("COSQA_EMBEDDINGS_MODEL")
"""The encoders, which know no settings, read these three where they are used."""
NOTIFY_COMMAND = read_command_variable("COSQA_NOTIFY_COMMAND")
NOTIFY_SECONDS = read_integer_variable("COSQA_NOTIFY_SECONDS", 10, 1, 120)
MAIL_URL = read_url_variable("EMAIL_URL", ("smtp", "smtp+tls", "smtp+ssl"))
MAIL_IS_SET = bool(MAIL_URL)
"""Whether links are mailed to people; notices go to the machine's own server where none is set."""
MAIL_SERVER = env.email_url_config(MAIL_URL or "smtp://localhost:25")
EMAIL_HOST, EMAIL_PORT = MAIL_SERVER["EMAIL_HOST"], MAIL_SERVER["EMAIL_PORT"]
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL_SERVER["EMAIL_HOST_USER"], MAIL_SERVER["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS, EMAIL_USE_SSL = (
    MAIL_SERVER.get("EMAIL_USE_TLS", False),
    MAIL_SERVER.get("EMAIL_USE_SSL", False),
)
EMAIL_TIMEOUT = NOTIFY_SECONDS

REDIS_URL = read_url_variable("REDIS_URL", ("redis", "rediss"))
CELERY_BROKER_URL = read_url_variable("CELERY_BROKER_URL", ("redis", "rediss", "amqp", "amqps")) or REDIS_URL
if CELERY_BROKER_URL:
    require_package("CELERY_BROKER_URL", "celery")
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_TASK_ROUTES = {
    "annotation.jobs.celery_tasks.drain_llm": {"queue": "llm"},
    "annotation.jobs.celery_tasks.drain_sandbox": {"queue": "sandbox"},
    "annotation.jobs.celery_tasks.drain_interactive": {"queue": "interactive"},
    "annotation.jobs.celery_tasks.drain_files": {"queue": "files"},
    "annotation.jobs.celery_tasks.drain_mining": {"queue": "mining"},
    "annotation.jobs.celery_tasks.drain_training": {"queue": "training"},
    "annotation.jobs.celery_tasks.notify": {"queue": "notices"},
    "annotation.jobs.celery_tasks.reap": {"queue": "sandbox"},
    "annotation.jobs.celery_tasks.beat": {"queue": "control"},
}
CELERY_BEAT_SCHEDULE = {
    "beat": {"task": "annotation.jobs.celery_tasks.beat", "schedule": 2.0, "options": {"expires": 10}},
    "notify": {"task": "annotation.jobs.celery_tasks.notify", "schedule": 5.0, "options": {"expires": 10}},
    "reap": {"task": "annotation.jobs.celery_tasks.reap", "schedule": 60.0, "options": {"expires": 60}},
}

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # All web servers count failed log-ins together; there is one only where there is no Redis.
    "logins": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "logins",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
}

INSTALLED_APPS = [
    "cosqa_site",
    "annotation",
    "retrieval",
    "cosqa_site.apps.WorkbenchAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "csp",
    "channels",
    *(["bench"] if (BASE_DIR / "bench").is_dir() else []),  # a checkout has it, an installation needs none
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "cosqa_site.http.cache_headers.PrivatePages",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "cosqa_site.accounts.log_in.IdleSessions",
    "cosqa_site.http.idempotency.AnsweredOnce",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "cosqa_site.urls"
SESSION_ENGINE = "cosqa_site.sessions"
ASGI_APPLICATION = "cosqa_site.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    }
]

DATABASES = {"default": database_settings(COSQA_HOME)}
ATOMIC_REQUESTS = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
if REDIS_URL:
    require_package("REDIS_URL", "channels_redis")
    # The layer waits 5 s for each message, which is as long as redis-py waits for an answer by itself.
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": 30}]},
        }
    }

AUTHENTICATION_BACKENDS = ["annotation.accounts.roles.Backend"]
PASSWORD_RESET_TIMEOUT = 3 * 86_400

ROLES = ("reader", "expert", "admin")
OIDC_ISSUER = read_issuer_variable("COSQA_OIDC_ISSUER")
OIDC_CLIENT_ID = read_text_variable("COSQA_OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = read_text_variable("COSQA_OIDC_CLIENT_SECRET")
OIDC_NAME = read_text_variable("COSQA_OIDC_NAME", "single sign-on")
OIDC_SCOPES = read_text_variable("COSQA_OIDC_SCOPES", "openid profile email")
OIDC_ROLE_CLAIM = read_text_variable("COSQA_OIDC_ROLE_CLAIM", "groups")
OIDC_ROLES = read_roles_variable("COSQA_OIDC_ROLES", ROLES)
OIDC_UNKNOWN = read_choice_variable("COSQA_OIDC_UNKNOWN", ("none", "reader", "expert"))
"""Nobody becomes an admin by being unknown: that takes a group."""
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    raise ImproperlyConfigured("COSQA_OIDC_CLIENT_ID: expected the client's id, as COSQA_OIDC_ISSUER is set")
if OIDC_ISSUER:
    require_package("COSQA_OIDC_ISSUER", "authlib", "oidc")

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "annotation.accounts.access.TokensEnd"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = f"{PREFIX}/static/"
STATIC_ROOT = COSQA_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static", folder_of("ninja") / "static"]
"""django-ninja is no installed app: as one it would be loaded, with pydantic, by every command."""
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": COSQA_HOME / "uploads"},
    },
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
UPLOAD_LIMIT_BYTES = 50 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{PREFIX}/"
if PREFIX:  # the other storage is a cookie for the whole host
    MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SECURE_SSL_REDIRECT = SECURE
SECURE_REDIRECT_EXEMPT = [rf"^{PREFIX.lstrip('/')}/?health/$"]  # load balancers ask without TLS
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = read_boolean_variable("COSQA_HSTS_PRELOAD", False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
"""Both ask for rules that bind hosts other than this one, for years: the owner of the domain decides."""
if SECURE:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "filters": {"repeats": {"()": "cosqa_site.http.log_limits.RepeatFilter"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "stream": sys.stderr,
            "formatter": "line",
            "filters": ["repeats"],
        }
    },
    "loggers": {"annotation.accounts.logins": {"level": "INFO"}},
    "root": {
        "handlers": ["stderr"],
        "level": read_choice_variable("COSQA_LOG_LEVEL", ("WARNING", "DEBUG", "INFO", "ERROR")),
    },
}
