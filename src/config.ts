import { availableParallelism } from 'node:os'
import type { z } from 'zod'
import { arrivals, imagesPerCallMax, smallestQueue } from './lib/limits/call-limits.ts'
import { extraImageTypes } from './lib/image-types/image-types.ts'
import { readSecretFiles, type Environment } from './lib/environment.ts'
import {
  choiceSetting,
  collectorUrl,
  databaseUrl,
  findSettingConflicts,
  integerSetting,
  listSetting,
  microsSetting,
  nonEmptyText,
  networkList,
  originsSetting,
  publicUrl,
  ratioSetting,
  textSetting,
} from './lib/setting.ts'
import { hourMs } from './lib/clock.ts'

const mebibyte = 1024 * 1024

const count = integerSetting('')
const pixels = integerSetting('pixels')
const bytes = integerSetting('bytes')
const ms = integerSetting('ms')
const days = integerSetting('days')
const perSecond = integerSetting('per second')

const server = {
  PORT: count(8080, [0, 65_535], 'Port to listen on. 0 selects a free port.'),
  HOST: textSetting('127.0.0.1', 'Address to listen on.', nonEmptyText),
  PUBLIC_URL: textSetting(
    '',
    'Address of the service for other machines, such as `https://faces.example.org`. Links of the console and printed calls contain it. It changes no check: behind a proxy, also set TRUST_PROXY. Empty: the address of the request, or of HOST and PORT. See [deployment.md](operations/deployment.md#from-another-machine).',
    publicUrl,
  ),
  TRUST_PROXY: count(
    0,
    [0, 8],
    'Number of reverse proxies in front of the server. The headers `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host` are trusted from that many proxies. 0: from none.',
  ),
  CONNECTIONS_MAX: count(10_000, [1, 1_000_000], 'Maximum number of open client connections.'),
  CONNECTIONS_PER_ADDRESS_MAX: count(
    1000,
    [1, 1_000_000],
    'Maximum number of open connections of one client address (IPv4), or of one /64 network (IPv6). It does not apply if TRUST_PROXY is set, because all connections then come from the proxy; limit the clients there.',
  ),
  HEADERS_TIMEOUT_MS: ms(10_000, [100, 600_000], 'Maximum time to receive the request headers.'),
  REQUEST_TIMEOUT_MS: ms(30_000, [100, 600_000], 'Maximum time to receive a whole request.'),
  WRITE_TIMEOUT_MS: ms(20_000, [100, 600_000], 'Maximum time to read nothing of a response.'),
  SHUTDOWN_DELAY_MS: ms(
    0,
    [0, 600_000],
    'Time for which the server still accepts calls after the signal to stop, while `/readyz` already reports that it is not ready. Set it longer than the proxy needs to notice.',
  ),
  DRAIN_TIMEOUT_MS: ms(
    15_000,
    [0, 600_000],
    'Maximum time for running calls to finish at shutdown.',
  ),
  COMPREFACE_API: choiceSetting(
    'off',
    ['off', 'on'],
    '`on` also serves the CompreFace routes under `/api/v1`; see [compreface.md](reference/compreface.md).',
  ),
  BEARER_KEYS: choiceSetting(
    'off',
    ['off', 'on'],
    '`on` accepts an API key also as `Authorization: Bearer`; see [gate.md](reference/gate.md#bearer-keys).',
  ),
  CORS_ORIGINS: originsSetting(
    'Origins of web pages that may call the routes under `/v1` from a browser, separated by commas, such as `https://app.example.org`; `*` permits all. Empty: none. See [request-formats.md](reference/request-formats.md#cross-origin-calls).',
  ),
  BINARY_BODIES: choiceSetting(
    'off',
    ['off', 'on'],
    '`on` lets `POST /v1/face/execute` also accept `multipart/form-data` and an image as the body; see [request-formats.md](reference/request-formats.md).',
  ),
  LOG_LEVEL: choiceSetting(
    'info',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'Lowest level of the log lines that are written.',
  ),
} as const

const storage = {
  DATA_DIR: textSetting('./data', 'Folder of the database and the converted models.', nonEmptyText),
  MODELS_DIR: textSetting(
    '',
    'Folder of the converted and installed models. Empty: `models` in DATA_DIR. It may be read-only once it contains all models.',
  ),
  DATABASE_URL: {
    ...textSetting(
      '',
      'PostgreSQL database, `postgres://…`, for one or more servers. Empty: SQLite in DATA_DIR.',
      databaseUrl,
    ),
    isSecret: true,
  },
  DATABASE_URL_FILE: textSetting(
    '',
    'File that contains DATABASE_URL, such as a mounted secret. Empty: DATABASE_URL itself is used.',
  ),
  DATABASE_CONNECTIONS_MAX: count(16, [2, 1000], 'Maximum connections to PostgreSQL per server.'),
  MASTER_KEY_FILE: textSetting(
    '',
    'File of the master key. The first start creates it. Empty: `master.key` in DATA_DIR. With SQLite, a copy of that folder then contains the database and its key; each start logs it.',
  ),
  DELETIONS_FILE: textSetting(
    '',
    'File written by `facegate deletions export`. Subjects listed in it are deleted at startup if present. Empty: none.',
  ),
} as const

const requestLimits = {
  BODY_BYTES_MAX: bytes(arrivals.body, [1024, 256 * mebibyte], 'Maximum size of a request body.'),
  BODIES_BYTES_MAX: bytes(
    256 * mebibyte,
    [1024, 16_384 * mebibyte],
    'Maximum size of all request bodies that are received or processed at the same time. Further requests return 503.',
  ),
  BODIES_PER_ACCOUNT_BYTES_MAX: bytes(
    192 * mebibyte,
    [1024, 16_384 * mebibyte],
    'The same maximum for the requests of one account. It must be at most BODIES_BYTES_MAX.',
  ),
  BODIES_PER_PROJECT_BYTES_MAX: bytes(
    128 * mebibyte,
    [1024, 16_384 * mebibyte],
    'The same maximum for the requests of one project, of the web pages that send frames to its liveness sessions, or of one user of the console. It must be at least BODY_BYTES_MAX and at most BODIES_PER_ACCOUNT_BYTES_MAX.',
  ),
  BODY_BYTES_PER_S_MIN: count(
    4096,
    [0, mebibyte],
    'Minimum rate of a request body in bytes per second, over five seconds. A slower body returns 408. 0: none.',
  ),
  IMAGE_BYTES_MAX: bytes(
    arrivals.image,
    [1024, 256 * mebibyte],
    'Maximum size of an image file, after base64 decoding.',
  ),
  IMAGE_PIXELS_MAX: pixels(
    40_000_000,
    [1024, 1e9],
    'Maximum number of pixels of an image. Some types have a lower limit; see [request-formats.md](reference/request-formats.md#pixels).',
  ),
  IMAGE_SIDE_MIN_PX: pixels(32, [1, 10_000], 'Minimum length of the shorter side of an image.'),
  IMAGE_TYPES_EXTRA: listSetting(
    extraImageTypes,
    'File types that are accepted in addition to JPEG and PNG, separated by commas. Of an animation or a file with pages, only the first is analyzed. Empty: none. See [request-formats.md](reference/request-formats.md#image-types).',
  ),
  JSON_DEPTH_MAX: count(16, [4, 1000], 'Maximum nesting depth of a request body.'),
  JSON_TOKENS_MAX: count(
    10_000,
    [100, 1_000_000],
    'Maximum number of braces, brackets, colons and commas outside the strings of a request body.',
  ),
} as const

const imageAnalysis = {
  VISION_WORKERS: {
    ...count(
      availableParallelism(),
      [1, 256],
      'Number of processes that decode images and run models.',
    ),
    defaultText: 'one per core',
  },
  MODEL_LICENCES: choiceSetting(
    'any',
    ['any', 'commercial'],
    '`commercial`: the service does not start with a network whose [card](models.md) does not permit commercial use, and `facegate models use` refuses it. The built-in networks are among them; see [model-packs.md](recognition/model-packs.md#licences).',
  ),
  MODEL_LICENCES_CLEARED: textSetting(
    '',
    'Networks that `MODEL_LICENCES=commercial` permits because you have cleared their licences, by their names in `facegate models list`, separated by commas.',
  ),
  VISION_INT8: choiceSetting(
    'auto',
    ['auto', 'on', 'off'],
    'Whether the large detector and the built-in recognizers compute with 8-bit integers. `auto`: each network does so if the first start measured that it is at least 1.4 times as fast on this machine. Results differ by less than between two qualities of one JPEG; see benchmarks.md.',
  ),
  VISION_QUEUE_PER_WORKER_MAX: count(
    smallestQueue.images,
    [imagesPerCallMax, 1000],
    'Maximum number of waiting images per vision worker. A call whose images do not all fit returns 503. Default: two default bursts (RATE_BURST) of one image and two batches of ten images. If you raise it, raise VISION_QUEUE_WAIT_MS_MAX too.',
  ),
  VISION_QUEUE_BYTES_MAX: bytes(
    smallestQueue.bytes,
    [mebibyte, 16_384 * mebibyte],
    'Maximum size of all waiting images, as base64; at least BODY_BYTES_MAX. Default: two default bursts of the largest images and two of the largest bodies.',
  ),
  VISION_QUEUE_WAIT_MS_MAX: ms(
    20_000,
    [10, 600_000],
    'Maximum time from the acceptance of a call until a vision worker starts its last image; then the call returns 503. The default lets a full queue complete at three images per second and worker. Keep VISION_QUEUE_WAIT_MS_MAX and VISION_TIMEOUT_MS together below CALL_TIMEOUT_MS.',
  ),
  VISION_TIMEOUT_MS: ms(
    5000,
    [100, 600_000],
    'Maximum time to process one image. Then the worker is killed and replaced.',
  ),
  VISION_WORKER_IMAGES_MAX: count(5000, [1, 1e9], 'Images after which a worker is replaced.'),
} as const

const calls = {
  RATE_SUSTAINED_PER_S: perSecond(
    10,
    [1, 10_000],
    'Average calls allowed, for projects without their own limit.',
  ),
  RATE_BURST: count(
    arrivals.burst,
    [1, 100_000],
    'Calls allowed in a burst, for projects without their own limit.',
  ),
  AUTH_FAILURES_PER_S: perSecond(
    1,
    [1, 10_000],
    'Average requests with an invalid key per IPv4 address or IPv6 /64 network. Beyond the limit, each 401 response is delayed by 250 ms.',
  ),
  AUTH_FAILURES_BURST: count(
    20,
    [1, 100_000],
    'Burst of requests with an invalid key, per IP address.',
  ),
  CALL_TIMEOUT_MS: ms(
    30_000,
    [1000, 600_000],
    'Maximum time from admission to the response. Then the call expires and is not charged.',
  ),
  REPLAY_WINDOW_MS: ms(
    24 * hourMs,
    [1000, 31 * 24 * hourMs],
    'Time for which a response is stored for retries with the same `requestId`.',
  ),
  REPLAY_BYTES_MAX: bytes(
    2048 * mebibyte,
    [mebibyte, 1024 * 1024 * mebibyte],
    'Maximum size of the stored responses of a project. Beyond it, the oldest ones are dropped: a retry of such a call returns REQUEST_ID_CONFLICT and is neither run nor charged again. Default: responses of 2 KiB for a day of calls at the default RATE_SUSTAINED_PER_S.',
  ),
  IN_FLIGHT_WAIT_MS_MAX: ms(
    10_000,
    [0, 600_000],
    'Maximum time for which a retry waits for the first call with the same `requestId`.',
  ),
  LIVENESS_FAILURES_PER_MINUTE_MAX: count(
    10,
    [1, 100_000],
    'Maximum number of failed attempts in liveness sessions of a project within 60 s. Then new sessions and attempts return RATE_LIMITED until the oldest failure is 60 s old; see [liveness-sessions.md](reference/liveness-sessions.md).',
  ),
  LIVENESS_SESSIONS_OPEN_MAX: count(
    1000,
    [1, 1_000_000],
    'Maximum number of open liveness sessions of a project. Then a request for another returns 429.',
  ),
  LOG_RETENTION_DAYS: days(365, [1, 36_500], 'Time for which the request log is kept.'),
} as const

const billing = {
  UNIT_PRICE_MICROS: microsSetting(1000n, 'Price of one unit, for accounts without a price list.'),
  STARTER_CREDIT_MICROS: microsSetting(10_000_000n, 'Starting budget of the first project.'),
} as const

const galleries = {
  RETENTION_DAYS: days(
    1095,
    [1, 36_500],
    'Subjects not matched for that many days are deleted, in projects without their own retention.',
  ),
  SUBJECT_TEMPLATES_MAX: count(20, [1, 1000], 'Maximum number of templates of a subject.'),
  GALLERY_TEMPLATES_MAX: count(
    1_000_000,
    [1, 15_000_000],
    'Maximum number of templates of a gallery.',
  ),
  GROUP_DELETION_SUBJECTS_MAX: count(
    15_000,
    [1, 100_000],
    'Maximum number of subjects that one `DELETE /v1/groups/{name}` deletes.',
  ),
  SEARCH: choiceSetting(
    'memory',
    ['memory', 'pgvector'],
    'Where galleries are searched: in the memory of each server, or in the database with pgvector; see [search.md](recognition/search.md).',
  ),
  SEARCH_EXACT_SUBJECTS_MAX: count(
    100_000,
    [0, 1_000_000_000],
    'With pgvector, galleries of up to that many subjects are searched exactly, larger ones with the index.',
  ),
} as const

const webhooks = {
  WEBHOOK_ALLOWED_NETWORKS: textSetting(
    '',
    'Networks that webhooks may send events to although they are not public, such as `10.0.0.0/8,fd00::/8`. Empty: public addresses only. See [webhooks.md](reference/webhooks.md).',
    networkList,
  ),
  WEBHOOK_ALLOW_HTTP: choiceSetting(
    'off',
    ['off', 'on'],
    '`on` allows webhooks with `http://` addresses. Events are then sent without encryption.',
  ),
  WEBHOOK_TIMEOUT_MS: ms(10_000, [100, 60_000], 'Maximum time for the delivery of one event.'),
  WEBHOOK_RETRY_MS: ms(
    10_000,
    [10, 3_600_000],
    'Wait after the first failed delivery of an event. Each further wait is four times as long, up to six hours.',
  ),
  WEBHOOK_CONCURRENCY: count(
    8,
    [1, 100],
    'Maximum number of webhooks that a server sends events to at the same time, with up to four events each.',
  ),
  WEBHOOK_OUTBOX_MAX: count(
    10_000,
    [1, 1_000_000],
    'Maximum number of pending deliveries of a webhook. Further matches and deleted subjects are not reported; the webhook counts them as discarded.',
  ),
  WEBHOOK_RETENTION_DAYS: days(
    7,
    [3, 365],
    'Time for which completed deliveries are kept, to show them and to repeat them.',
  ),
} as const

const openTelemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: textSetting(
    '',
    'Collector that receives traces and metrics by OTLP over HTTP, such as `http://collector:4318`. Empty: none. See [observability.md](operations/observability.md).',
    collectorUrl,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: textSetting(
    '',
    'Complete address for traces only. Empty: `/v1/traces` of the collector.',
    collectorUrl,
  ),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: textSetting(
    '',
    'Complete address for metrics only. Empty: `/v1/metrics` of the collector.',
    collectorUrl,
  ),
  OTEL_SERVICE_NAME: textSetting(
    '',
    'Service name in traces and metrics. Empty: the name in OTEL_RESOURCE_ATTRIBUTES, or `facegate`.',
  ),
  OTEL_TRACES_SAMPLER: choiceSetting(
    'parentbased_always_on',
    [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
    'Which traces are kept. A sampler with `parentbased_` follows the decision of the calling service.',
  ),
  OTEL_TRACES_SAMPLER_ARG: ratioSetting(1, 'Share of traces that a `traceidratio` sampler keeps.'),
  OTEL_METRIC_EXPORT_INTERVAL: ms(60_000, [100, 3_600_000], 'Time between two exports of metrics.'),
} as const

/** The settings by topic, in the order of docs/configuration.md. */
export const settingsByTopic = {
  Server: server,
  Storage: storage,
  'Request limits': requestLimits,
  'Image analysis': imageAnalysis,
  'Calls and rate limits': calls,
  Billing: billing,
  'Galleries and search': galleries,
  Webhooks: webhooks,
  OpenTelemetry: openTelemetry,
} as const

/** Every setting by the name of its environment variable. */
export const settings = {
  ...server,
  ...storage,
  ...requestLimits,
  ...imageAnalysis,
  ...calls,
  ...billing,
  ...galleries,
  ...webhooks,
  ...openTelemetry,
} as const

type SettingDefinitions = typeof settings

/** The validated values of all settings, frozen. */
export type Config = {
  readonly [Name in keyof SettingDefinitions]: z.output<SettingDefinitions[Name]['schema']>
}

/**
 * Reads the configuration from an environment.
 *
 * @throws Error that names every variable with an invalid value.
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = []
  const values = readSecretFiles(environment, problems)
  const entries = Object.entries(settings).map(([name, { defaultValue, schema }]) => {
    const result = schema.safeParse(values[name] ?? defaultValue)
    if (!result.success)
      problems.push(`${name}: ${result.error.issues[0]?.message ?? 'is invalid'}`)
    return [name, result.data]
  })
  // Each value was parsed by the schema of the same setting.
  const config = Object.freeze(Object.fromEntries(entries)) as Config
  problems.push(...findSettingConflicts(config))
  if (problems.length > 0) throw new Error(`invalid configuration: ${problems.join('; ')}`)
  return config
}
