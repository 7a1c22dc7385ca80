"""`KINDS`, the table of all kinds of secrets. Documentation, tests, `--redact`, and the search for leaks use it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Shape(Enum):
    """How a kind of secret is recognized."""

    TOKEN = "token"
    """Recognized by its own characters, such as a vendor prefix. Such a secret is also found across line ends."""
    BLOCK = "block"
    """Recognized by its own characters, over several lines."""
    CONTEXT = "context"
    """Recognized by the surrounding words. The value must look random or be quoted."""
    PERSONAL = "personal"
    """Personal data, not a secret that grants access to anything."""


class SecretKind(Struct, frozen=True):
    """One kind of secret: a row of the table."""

    name: str
    title: str
    hints: tuple[str, ...]
    """Every match contains one of these, in lower case. Text without them is not searched."""
    pattern: str
    """A regular expression in RE2 syntax. If it has a group `s`, only that group is masked."""
    example: str
    """A template for examples; see `examples.py`. The program contains no complete secret."""
    shape: Shape = Shape.TOKEN
    note: str = ""
    ignores_case: bool = False


_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID_SHAPE = "{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"
_NAMED = r"""(?:\\*["'])?\s{0,8}(?:=>|:=|=|:)\s{0,8}"""
"""The separator between the name and the value of an assignment, a JSON member, or a keyword argument."""
_KEYS = (
    r"(?:api[_-]?key|apikey|secret|token|credentials?|access[_-]?key|private[_-]?key|auth[_-]?key|client[_-]?secret)"
)
_QUOTED = r"""\\*["'](?P<s>[^"'\\\s<>{}$()]{8,})\\*["']"""


def _token(name: str, title: str, hints: str, pattern: str, example: str, note: str = "") -> SecretKind:
    return SecretKind(name, title, tuple(hints.lower().split()), pattern, example, note=note)


KINDS: tuple[SecretKind, ...] = (
    # Clouds
    _token("aws-key", "AWS access key ID", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "AKIA{2:16}"),
    _token("aws-bedrock-key", "Amazon Bedrock API key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}={0,2}", "ABSK{b:110}=="),
    _token("aws-mws-key", "Amazon MWS token", "amzn.mws.", rf"amzn\.mws\.{_UUID}", f"amzn.mws.{_UUID_SHAPE}"),
    SecretKind(
        "aws-secret", "AWS secret access key", ("secret",),
        rf"(?:aws.{{0,20}})?secret.{{0,12}}key{_NAMED}\\*[\"']?(?P<s>[A-Za-z0-9/+]{{40}})(?:[^A-Za-z0-9/+=]|$)",
        "aws_secret_access_key = {b:40}", Shape.CONTEXT, ignores_case=True,
    ),
    SecretKind(
        "aws-session", "AWS session token", ("session_token", "sessiontoken", "security-token"),
        rf"(?:session_?token|security-token){_NAMED}\\*[\"']?(?P<s>[A-Za-z0-9/+=]{{100,}})",
        "aws_session_token={b:280}==", Shape.CONTEXT, ignores_case=True,
    ),
    _token("google-key", "Google API key", "AIza", r"AIza[A-Za-z0-9_-]{35}", "AIza{w:35}"),
    _token("google-oauth-token", "Google OAuth access token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}", "ya29.{w:120}"),
    _token("google-refresh-token", "Google refresh token", "1//0", r"1//0[A-Za-z0-9_-]{40,}", "1//0{w:60}"),
    _token("google-oauth-secret", "Google OAuth client secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}", "GOCSPX-{w:28}"),
    _token("firebase-key", "Firebase server key", ":apa91b", r"[A-Za-z0-9_-]{8,20}:APA91b[A-Za-z0-9_-]{100,}", "{w:11}:APA91b{w:134}"),
    _token("azure-storage-key", "Azure storage or service bus key", "accountkey= sharedaccesskey=", r"(?:AccountKey|SharedAccessKey)=(?P<s>[A-Za-z0-9+/]{43,86}={0,2})", "AccountKey={b:86}=="),
    _token("azure-sas", "Signature of an Azure shared link", "sig=", r"[?&;]sig=(?P<s>[A-Za-z0-9%+/]{43,90}(?:%3[dD]|=))", "?sv=2024-01-01&sig={n:43}%3D"),
    _token("azure-client-secret", "Azure client secret", "8q~ 7q~ 6q~ 5q~ 4q~ 3q~ 2q~ 1q~ 0q~ 9q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", "{n:3}8Q~{n:34}"),
    _token("azure-devops-token", "Azure DevOps token", "azdo", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", "{n:76}AZDO{n:4}"),
    _token("alibaba-key", "Alibaba Cloud access key ID", "LTAI", r"LTAI[A-Za-z0-9]{17,21}", "LTAI{n:20}"),
    _token("tencent-key", "Tencent Cloud secret ID", "AKID", r"AKID[A-Za-z0-9]{32}", "AKID{n:32}"),
    _token("yandex-key", "Yandex Cloud API key", "AQVN", r"AQVN[A-Za-z0-9_-]{35,38}", "AQVN{w:36}"),
    _token("digitalocean-token", "DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}", "dop_v1_{h:64}"),
    _token("heroku-key", "Heroku API key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{36,60}", "HRKU-{w:60}"),
    _token("fly-token", "Fly.io token", "fo1_ fm1r_ fm1a_ fm2_", r"(?:fo1_[A-Za-z0-9_-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/=_-]{100,})", "fo1_{w:43}"),
    _token("vercel-token", "Vercel token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", r"(?:vc[piark]_[A-Za-z0-9]{24,80}|vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30})", "vcp_{n:56}"),
    _token("netlify-token", "Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36}", "nfp_{n:36}"),
    _token("cloudflare-key", "Cloudflare origin CA key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}", "v1.0-{h:24}-{h:146}"),
    _token("supabase-key", "Supabase key", "sbp_ sb_secret_", r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{31,60})", "sbp_{h:40}"),
    _token("planetscale-token", "PlanetScale token or password", "pscale_", r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,64}", "pscale_tkn_{w:43}"),
    _token("databricks-token", "Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?", "dapi{h:32}"),
    _token("terraform-token", "Terraform Cloud token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}", "{n:14}.atlasv1.{w:66}"),
    _token("vault-token", "HashiCorp Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}", "hvs.{w:90}"),
    _token("doppler-token", "Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,70}", "dp.pt.{n:43}"),
    _token("pulumi-token", "Pulumi token", "pul-", r"pul-[0-9a-f]{40}", "pul-{h:40}"),
    _token("tailscale-key", "Tailscale key", "tskey-", r"tskey-[a-z]{2,10}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{16,60}", "tskey-auth-{n:12}-{n:32}"),
    _token("onepassword-token", "1Password service account token", "ops_eyj", r"ops_eyJ[A-Za-z0-9+/=_-]{200,}", "ops_eyJ{n:400}"),
    # Models
    _token("anthropic-key", "Anthropic key", "sk-ant-", r"sk-ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{32,}", "sk-ant-api03-{w:93}AA"),
    _token("openrouter-key", "OpenRouter key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{64}", "sk-or-v1-{h:64}"),
    _token("openai-key", "OpenAI key, and keys of compatible services", "sk-", r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{32,64})", "sk-proj-{w:74}T3BlbkFJ{w:74}"),
    _token("groq-key", "Groq key", "gsk_", r"gsk_[A-Za-z0-9]{52}", "gsk_{n:52}"),
    _token("huggingface-token", "Hugging Face token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{34,40}", "hf_{n:34}"),
    _token("replicate-token", "Replicate token", "r8_", r"r8_[A-Za-z0-9]{37}", "r8_{n:37}"),
    _token("perplexity-key", "Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{48}", "pplx-{n:48}"),
    _token("xai-key", "xAI key", "xai-", r"xai-[A-Za-z0-9]{70,90}", "xai-{n:80}"),
    _token("nvidia-key", "NVIDIA API key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{60,70}", "nvapi-{w:64}"),
    _token("cerebras-key", "Cerebras key", "csk-", r"csk-[a-z0-9]{48}", "csk-{l:48}"),
    _token("together-key", "Together AI key", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{43}", "tgp_v1_{w:43}"),
    _token("fireworks-key", "Fireworks key", "fw_", r"fw_[A-Za-z0-9]{22,24}", "fw_{n:22}"),
    _token("elevenlabs-key", "ElevenLabs key", "sk_", r"sk_[0-9a-f]{48}", "sk_{h:48}"),
    _token("langsmith-key", "LangSmith key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_pt_{h:32}_{h:10}"),
    _token("langfuse-key", "Langfuse secret key", "sk-lf-", rf"sk-lf-{_UUID}", f"sk-lf-{_UUID_SHAPE}"),
    _token("pinecone-key", "Pinecone key", "pcsk_", r"pcsk_[A-Za-z0-9_]{50,90}", "pcsk_{n:5}_{n:63}"),
    _token("tavily-key", "Tavily key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}", "tvly-dev-{n:32}"),
    # Code and packages
    _token("github-token", "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}", "ghp_{n:36}"),
    _token("github-fine-token", "GitHub fine-grained token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", "github_pat_{n:22}_{n:59}"),
    _token("gitlab-token", "GitLab token", "glpat- gldt- glrt- glsoat- glcbt- glptt- glft- glimt- glagent- gloas-", r"gl(?:pat|dt|rt|soat|cbt|ptt|ft|imt|agent|oas)-[A-Za-z0-9_-]{20,}", "glpat-{w:20}"),
    _token("bitbucket-token", "Bitbucket app password", "ATBB", r"ATBB[A-Za-z0-9]{32}", "ATBB{n:32}"),
    _token("atlassian-token", "Atlassian API token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{150,}", "ATATT3{w:186}"),
    _token("npm-token", "npm token", "npm_", r"npm_[A-Za-z0-9]{36}", "npm_{n:36}"),
    _token("pypi-token", "PyPI token", "pypi-age", r"pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{50,}", "pypi-AgEIcHlwaS5vcmc{w:150}"),
    _token("rubygems-key", "RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{48}", "rubygems_{h:48}"),
    _token("cargo-token", "crates.io token", "cio", r"cio[A-Za-z0-9]{32}", "cio{n:32}"),
    _token("clojars-token", "Clojars token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}", "CLOJARS_{l:60}"),
    _token("docker-token", "Docker Hub token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,40}", "dckr_pat_{w:27}"),
    _token("artifactory-key", "Artifactory key", "AKCp", r"AKCp[A-Za-z0-9]{69}", "AKCp{n:69}"),
    _token("sourcegraph-token", "Sourcegraph token", "sgp_", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}", "sgp_{h:16}_{h:40}"),
    _token("buildkite-token", "Buildkite token", "bkua_", r"bkua_[0-9a-f]{40}", "bkua_{h:40}"),
    _token("circleci-token", "CircleCI token", "CCIPAT_", r"CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}", "CCIPAT_{n:22}_{h:40}"),
    _token("prefect-token", "Prefect token", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}", "pnu_{n:36}"),
    _token("postman-key", "Postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "PMAK-{h:24}-{h:34}"),
    # Messages and mail
    _token("slack-token", "Slack token", "xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xapp-", r"(?:xox[abeoprscd][.-][A-Za-z0-9%-]{10,}|xapp-[0-9]-[A-Z0-9]{8,20}-[0-9]{8,20}-[0-9a-f]{64})", "xoxb-{d:12}-{d:13}-{n:24}"),
    _token("slack-webhook", "Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9+/]{40,})", "https://hooks.slack.com/services/T{u:10}/B{u:10}/{n:24}"),
    _token("discord-webhook", "Discord webhook", "/api/webhooks/", r"/api/webhooks/(?P<s>[0-9]{17,20}/[A-Za-z0-9_-]{60,80})", "https://discord.com/api/webhooks/{d:18}/{w:68}"),
    _token("discord-token", "Discord bot token", ".", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}", "M{n:25}.{n:6}.{w:38}"),
    _token("telegram-token", "Telegram bot token", ":aa", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", "{d:10}:AA{w:33}"),
    _token("teams-webhook", "Microsoft Teams webhook", ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/(?P<s>[A-Za-z0-9@/-]{100,})", f"https://team.webhook.office.com/webhookb2/{_UUID_SHAPE}@{_UUID_SHAPE}/IncomingWebhook/{{h:32}}/{_UUID_SHAPE}"),
    _token("twilio-key", "Twilio account or key ID", "ac sk", r"(?:AC|SK)[0-9a-f]{32}", "SK{h:32}"),
    _token("sendgrid-key", "SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", "SG.{w:22}.{w:43}"),
    _token("mailgun-key", "Mailgun key", "key-", r"key-[0-9a-f]{32}", "key-{h:32}"),
    _token("mailchimp-key", "Mailchimp key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}", "{h:32}-us{d:2}"),
    _token("brevo-key", "Brevo key", "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}", "xkeysib-{h:64}-{n:16}"),
    _token("resend-key", "Resend key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", "re_{n:8}_{n:24}"),
    # Payments and shops
    _token("stripe-key", "Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{24,}|whsec_[A-Za-z0-9+/=]{32,60})", "sk_live_{n:24}"),
    _token("square-token", "Square token", "sq0atp- sq0csp- EAAA", r"(?:sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{60})", "sq0atp-{w:22}"),
    _token("braintree-token", "Braintree token", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", "access_token$production${l:16}${h:32}"),
    _token("shopify-token", "Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shpat_{h:32}"),
    _token("plaid-token", "Plaid access token", "access-sandbox- access-production- access-development-", rf"access-(?:sandbox|production|development)-{_UUID}", f"access-sandbox-{_UUID_SHAPE}"),
    _token("flutterwave-key", "Flutterwave key", "FLWSECK", r"FLWSECK(?:_TEST)?-[0-9A-Za-z]{32}-X", "FLWSECK-{n:32}-X"),
    _token("easypost-key", "EasyPost key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}", "EZAK{n:54}"),
    _token("shippo-token", "Shippo token", "shippo_", r"shippo_(?:live|test)_[0-9a-f]{40}", "shippo_live_{h:40}"),
    # Monitoring and offices
    _token("grafana-token", "Grafana token", "glc_ glsa_", r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})", "glsa_{n:32}_{h:8}"),
    _token("newrelic-key", "New Relic key", "NRAK- NRII- NRJS- NRRA-", r"NR(?:AK-[A-Z0-9]{27}|II-[A-Za-z0-9_-]{32}|JS-[0-9a-f]{19}|RA-[0-9a-f]{42})", "NRAK-{u:27}"),
    _token("sentry-token", "Sentry token", "sntrys_ sntryu_", r"(?:sntrys_eyJ[A-Za-z0-9+/=_]{80,}|sntryu_[0-9a-f]{64})", "sntryu_{h:64}"),
    _token("dynatrace-token", "Dynatrace token", "dt0", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", "dt0c01.{u:24}.{u:64}"),
    _token("posthog-key", "PostHog personal key", "phx_", r"phx_[A-Za-z0-9_]{40,60}", "phx_{n:43}"),
    _token("linear-key", "Linear key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}", "lin_api_{n:40}"),
    _token("notion-token", "Notion token", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})", "ntn_{n:46}"),
    _token("airtable-token", "Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat{n:14}.{h:64}"),
    _token("figma-token", "Figma token", "figd_ figp_ figo_ figor_", r"fig(?:d|p|or?)_[A-Za-z0-9_-]{40,60}", "figd_{w:40}"),
    _token("hubspot-token", "HubSpot token", "pat-na pat-eu pat-ap", rf"pat-(?:na|eu|ap)[0-9]-{_UUID}", f"pat-na1-{_UUID_SHAPE}"),
    _token("contentful-token", "Contentful token", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{43}", "CFPAT-{w:43}"),
    _token("mapbox-token", "Mapbox secret token", "sk.eyj", r"sk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{22}", "sk.eyJ{n:80}.{w:22}"),
    _token("facebook-token", "Facebook access token", "EAA", r"EAA[A-Za-z0-9]{80,}", "EAA{n:180}"),
    _token("dropbox-token", "Dropbox token", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_-]{120,}", "sl.u.{w:140}"),
    # Any service
    SecretKind(
        "private-key", "Private key in PEM or PGP form", ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\:,.()-]{0,}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]{16,})",
        "-----BEGIN {_}PRIVATE KEY-----\n{b:64}\n{b:64}\n{b:32}==\n-----END {_}PRIVATE KEY-----", Shape.BLOCK,
        "up to the end mark or, if there is none, the end of the base64 text",
    ),
    _token("age-key", "age secret key", "age-secret-key-1", r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}", "AGE-SECRET-KEY-1{u:0}QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE", "tested with one fixed example"),
    _token("jwt", "JSON web token", "eyj", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]{0,})?", "eyJ{n:34}.eyJ{n:90}.{w:43}"),
    SecretKind(
        "url-password", "Password in a URL or connection string", ("://",),
        r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@\"'<>{}$]{0,}:(?P<s>[^\s/@\"'<>{}$]{3,})@[A-Za-z0-9\[.-]",
        "postgres://app:{p:14}@db.internal:5432/main", Shape.CONTEXT,
    ),
    SecretKind(
        "connection-password", "Password in a connection string with semicolons", (";",),
        r";\s{0,4}(?:password|pwd|accountkey|sharedaccesskey)\s{0,4}=\s{0,4}(?P<s>[^;\s\"'{}$]{4,})",
        "Server=db;Database=main;User Id=app;Password={p:14};Encrypt=true", Shape.CONTEXT, ignores_case=True,
    ),
    SecretKind(
        "bearer-token", "Token in an authorization header", ("bearer",),
        r"\bbearer[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/-]{16,}={0,2})", "Authorization: Bearer {n:40}", Shape.CONTEXT,
        ignores_case=True,
    ),
    SecretKind(
        "basic-auth", "Name and password in an authorization header", ("basic",),
        r"authorization\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?basic[ \t]{1,4}(?P<s>[A-Za-z0-9+/]{8,}={0,2})",
        "Authorization: Basic {b:26}==", Shape.CONTEXT, ignores_case=True,
    ),
    SecretKind(
        "cookie", "Cookies of a request or a response", ("cookie",),
        r"\b(?:set-)?cookie\\*[\"']?:[ \t]{0,4}\\*[\"']?(?P<s>[A-Za-z0-9_.$-]{1,80}=[^\s\"'\\]{8,}(?:; ?[^\s\"'\\]{1,}){0,60})",
        "Cookie: session={n:32}; theme=dark", Shape.CONTEXT, ignores_case=True,
    ),
    SecretKind(
        "header-key", "Key in a dedicated header", ("x-", "api-key"),
        r"\b(?:x-)?(?:api-key|auth-token|access-token|goog-api-key|amz-security-token|functions-key)\\*[\"']?\s{0,2}:\s{0,4}\\*[\"']?(?P<s>[A-Za-z0-9._~+/=-]{12,})",
        "x-api-key: {n:32}", Shape.CONTEXT, ignores_case=True,
    ),
    SecretKind(
        "password", "Password in an assignment, JSON, or YAML", ("pass", "pwd"),
        rf"(?:password|passwd|passphrase|pwd|db_pass){_NAMED}(?:{_QUOTED}|(?P<u>[^\s\"'\\,;<>{{}}$()\[\]]{{8,}}))",
        "DB_PASSWORD='{p:14}'", Shape.CONTEXT, "if unquoted, only if it contains letters and digits or symbols", ignores_case=True,
    ),
    SecretKind(
        "assigned-key", "Key or token in an assignment, JSON, or YAML", ("key", "secret", "token", "credential"),
        rf"{_KEYS}[A-Za-z0-9_-]{{0,20}}{_NAMED}\\*[\"']?(?P<s>[A-Za-z0-9+/_~.=-]{{16,}})",
        "SERVICE_API_KEY={n:32}", Shape.CONTEXT, "only if it looks random", ignores_case=True,
    ),
    SecretKind(
        "option-password", "Password or token in a command option", ("--pass", "--token", "--secret", "--api-key", "--auth"),
        r"--(?:password|passwd|token|secret|api-key|auth-token|access-token|secret-key)(?:=|[ \t]{1,4})[\"']?(?P<s>[^\s\"'<>{}$()\[\]|,;]{8,})",
        "deploy --token {n:28}", Shape.CONTEXT, "only if it contains letters and digits or symbols",
    ),
    SecretKind(
        "curl-user", "Name and password in a curl option", ("curl",),
        r"curl[^\n]{0,}?\s(?:-u|--user)[ =]\\*[\"']?[^\s:\"'\\]{1,80}:(?P<s>[^\s\"'\\${}<>]{4,})",
        "curl -u admin:{p:14} https://host.internal/", Shape.CONTEXT,
    ),
    SecretKind(
        "netrc-password", "Password in a netrc file", ("machine",),
        r"machine\s{1,8}\S{1,}\s{1,8}login\s{1,8}\S{1,}\s{1,8}password\s{1,8}(?P<s>\S{4,})",
        "machine host.internal login app password {p:14}", Shape.CONTEXT,
    ),
    # People
    SecretKind(
        "email", "Email address", ("@",),
        r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,24}",
        "{a:7}.{a:6}@{a:8}.org", Shape.PERSONAL,
    ),
    SecretKind(
        "home", "Home directory", ("/home/", "/users/", "\\users\\", "-home-", "-users-"),
        r"(?:[A-Za-z]:)?(?:/home/|/Users/|/export/home/|\\{1,4}Users\\{1,4})[A-Za-z0-9_.@+][A-Za-z0-9_.@+-]{0,63}|(?:^|[/\\\s\"'])(?P<s>-(?:home|Users)-[A-Za-z0-9_.-]{1,64})",
        "/home/{a:8}", Shape.PERSONAL, "including as part of a folder name, such as `-home-NAME-project`",
    ),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}
TOKENS = tuple(kind for kind in KINDS if kind.shape is Shape.TOKEN)
"""The kinds that need no context."""
