import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { readSecretFiles, type Environment } from './lib/environment.ts'
import { visionPoolLimits } from './vision/workers/vision-pool-limits.ts'

const mebibyte = 1024 * 1024
const hourMs = 3_600_000

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/u, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))

const micros = z
  .string()
  .regex(/^\d{1,18}$/u, 'must be a whole number of millionths')
  .transform(BigInt)

/** Only what it is, not whether anybody answers there. */
function isDatabaseUrl(text: string): boolean {
  return text === '' || (/^postgres(?:ql)?:\/\//u.test(text) && URL.canParse(text))
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const collectorUrl = z
  .string()
  .refine(
    (text) => text === '' || isCollectorUrl(text),
    'must be an http or https address without a password',
  )

function isCollectorUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/u.test(url.protocol) && url.username + url.password === ''
}

const setting = <T>(fallback: string, says: string, schema: z.ZodType<T, string>) => ({
  fallback,
  says,
  schema,
})

/** Every setting: the environment variable, its default and meaning. The documentation's table is made of it. */
export const settings = {
  PORT: setting('8080', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535)),
  HOST: setting('127.0.0.1', 'address to listen on', z.string().min(1)),
  TRUST_PROXY: setting(
    '0',
    'reverse proxies in front whose `X-Forwarded-For`, `-Proto` and `-Host` are believed; 0: none',
    wholeNumber(0, 8),
  ),
  DATA_DIR: setting('./data', 'folder of the database and the converted models', z.string().min(1)),
  MODELS_DIR: setting(
    '',
    'folder of the converted and installed models; empty: `models` in DATA_DIR. May be read-only once all is in it',
    z.string(),
  ),
  DATABASE_URL: setting(
    '',
    'empty: SQLite in DATA_DIR; `postgres://…`: a database of PostgreSQL, for several servers',
    z
      .string()
      .refine(isDatabaseUrl, 'must be empty for SQLite under DATA_DIR, or begin with postgres://'),
  ),
  DATABASE_CONNECTIONS_MAX: setting(
    '16',
    'most connections of this process to PostgreSQL',
    wholeNumber(2, 1000),
  ),
  DATABASE_URL_FILE: setting(
    '',
    'file that holds DATABASE_URL, such as a mounted secret; empty: DATABASE_URL says it itself',
    z.string(),
  ),
  MASTER_KEY_FILE: setting(
    '',
    'file of the master key, made at the first start; empty: `master.key` in DATA_DIR',
    z.string(),
  ),
  DELETIONS_FILE: setting(
    '',
    'file that `deletions export` has written: whoever it names and is back is deleted again before a start answers anything; empty: none',
    z.string(),
  ),
  VISION_WORKERS: setting(
    String(availableParallelism()),
    'processes that decode pictures and run models; the default is one per core',
    wholeNumber(1, 256),
  ),
  LOG_LEVEL: setting(
    'info',
    'fatal, error, warn, info, debug, trace or silent',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  ),
  BODY_BYTES_MAX: setting(
    String(24 * mebibyte),
    'largest request body, bytes',
    wholeNumber(1024, 256 * mebibyte),
  ),
  IMAGE_BYTES_MAX: setting(
    String(8 * mebibyte),
    'largest image after base64, bytes',
    wholeNumber(1024, 256 * mebibyte),
  ),
  IMAGE_PIXELS_MAX: setting(
    '40000000',
    'most pixels of an image',
    wholeNumber(1024, 1_000_000_000),
  ),
  IMAGE_SIDE_MIN_PX: setting('32', 'shortest side of an image, pixels', wholeNumber(1, 10_000)),
  JSON_DEPTH_MAX: setting('16', 'deepest nesting of a request body', wholeNumber(4, 1000)),
  JSON_TOKENS_MAX: setting(
    '10000',
    'most braces, brackets, colons and commas of a request body outside its strings',
    wholeNumber(100, 1_000_000),
  ),
  VISION_QUEUE_PER_WORKER_MAX: setting(
    String(visionPoolLimits.queuePerWorkerMax),
    'pictures that may wait per vision worker; beyond it calls are answered 503',
    wholeNumber(1, 1000),
  ),
  VISION_QUEUE_BYTES_MAX: setting(
    String(visionPoolLimits.queueBytesMax),
    'bytes of pictures that may wait',
    wholeNumber(mebibyte, 16_384 * mebibyte),
  ),
  VISION_QUEUE_WAIT_MS_MAX: setting(
    String(visionPoolLimits.queueWaitMsMax),
    'longest wait for a vision worker, ms',
    wholeNumber(10, 600_000),
  ),
  VISION_TIMEOUT_MS: setting(
    String(visionPoolLimits.jobMsMax),
    'longest work on one picture, ms; then the worker is killed and replaced',
    wholeNumber(100, 600_000),
  ),
  VISION_WORKER_IMAGES_MAX: setting(
    String(visionPoolLimits.workerJobsMax),
    'pictures after which a worker is replaced',
    wholeNumber(1, 1e9),
  ),
  COMPREFACE_API: setting(
    'off',
    '`on` serves the routes of CompreFace under /api/v1 as well; see [compreface.md](compreface.md)',
    z.enum(['off', 'on']),
  ),
  CONNECTIONS_MAX: setting('10000', 'most open client connections', wholeNumber(1, 1_000_000)),
  HEADERS_TIMEOUT_MS: setting(
    '10000',
    'longest time to send the headers, ms',
    wholeNumber(100, 600_000),
  ),
  REQUEST_TIMEOUT_MS: setting(
    '30000',
    'longest time to send a whole request, ms',
    wholeNumber(100, 600_000),
  ),
  RATE_SUSTAINED_PER_S: setting(
    '10',
    'calls per second in the long run, for projects without a limit of their own',
    wholeNumber(1, 10_000),
  ),
  RATE_BURST: setting(
    '20',
    'calls at once, for projects without a limit of their own',
    wholeNumber(1, 100_000),
  ),
  AUTH_FAILURES_PER_S: setting(
    '1',
    'wrong keys per second and address; beyond them each 401 takes a quarter of a second',
    wholeNumber(1, 10_000),
  ),
  AUTH_FAILURES_BURST: setting('20', 'wrong keys at once per address', wholeNumber(1, 100_000)),
  UNIT_PRICE_MICROS: setting(
    '1000',
    'price of one unit, millionths of the currency, for accounts without a price list',
    micros,
  ),
  STARTER_CREDIT_MICROS: setting(
    '10000000',
    'budget of the project that the first start makes, millionths of the currency',
    micros,
  ),
  REPLAY_WINDOW_MS: setting(
    String(24 * hourMs),
    'how long an answer is kept for retries with the same requestId, ms',
    wholeNumber(1000, 31 * 24 * hourMs),
  ),
  CALL_TIMEOUT_MS: setting(
    '30000',
    'longest time from the gate to the answer, ms; then the call is given up, unbilled',
    wholeNumber(1000, 600_000),
  ),
  IN_FLIGHT_WAIT_MS_MAX: setting(
    '10000',
    'longest wait of a retry for the first call that is still at work, ms',
    wholeNumber(0, 600_000),
  ),
  LOG_RETENTION_DAYS: setting(
    '365',
    'how long the request log is kept, days',
    wholeNumber(1, 36_500),
  ),
  RETENTION_DAYS: setting(
    '1095',
    'subjects that nobody met for so many days are deleted, in projects without a retention of their own',
    wholeNumber(1, 36_500),
  ),
  SUBJECT_TEMPLATES_MAX: setting('20', 'most templates of a subject', wholeNumber(1, 1000)),
  GALLERY_TEMPLATES_MAX: setting(
    '1000000',
    'most templates of a gallery',
    wholeNumber(1, 15_000_000),
  ),
  SEARCH: setting(
    'memory',
    'where galleries are searched: `memory` of each server, or `pgvector`, in the database; see [search.md](search.md)',
    z.enum(['memory', 'pgvector']),
  ),
  SEARCH_EXACT_TEMPLATES_MAX: setting(
    '100000',
    'galleries of up to so many templates are searched exactly with pgvector; larger ones by its index',
    wholeNumber(0, 1_000_000_000),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    '',
    'collector that traces and metrics are sent to, OTLP over HTTP, such as `http://collector:4318`; empty: none; see [observability.md](observability.md)',
    collectorUrl,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(
    '',
    'whole address for traces alone; empty: `/v1/traces` of the collector',
    collectorUrl,
  ),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: setting(
    '',
    'whole address for metrics alone; empty: `/v1/metrics` of the collector',
    collectorUrl,
  ),
  OTEL_SERVICE_NAME: setting(
    '',
    'name of the service in traces and metrics; empty: `facegate`, or what OTEL_RESOURCE_ATTRIBUTES says',
    z.string(),
  ),
  OTEL_TRACES_SAMPLER: setting(
    'parentbased_always_on',
    'which traces are kept: `always_on`, `always_off` or `traceidratio`, with `parentbased_` before it to do as the caller does',
    z.enum(samplers),
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(
    '1',
    'share of traces that the samplers by ratio keep, 0 to 1',
    z
      .string()
      .regex(/^\d*\.?\d+$/u, 'must be a number from 0 to 1')
      .transform(Number)
      .pipe(z.number().min(0).max(1)),
  ),
  OTEL_METRIC_EXPORT_INTERVAL: setting(
    '60000',
    'time between two exports of metrics, ms',
    wholeNumber(100, 3_600_000),
  ),
  SHUTDOWN_DELAY_MS: setting(
    '0',
    'how long a server that is told to end still takes calls while /readyz says that it leaves, ms: longer than a proxy takes to see it',
    wholeNumber(0, 600_000),
  ),
  DRAIN_TIMEOUT_MS: setting(
    '15000',
    'longest time running calls are given to finish at shutdown, ms',
    wholeNumber(0, 600_000),
  ),
} as const

type SettingDefinitions = typeof settings

/** All settings by the name of their environment variable, checked, converted and frozen. */
export type Config = {
  readonly [Name in keyof SettingDefinitions]: z.output<SettingDefinitions[Name]['schema']>
}

/**
 * Reads the configuration from an environment.
 *
 * @throws Error that names every variable with an unusable value; the start is refused.
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = []
  const said = readSecretFiles(environment, problems)
  const entries = Object.entries(settings).map(([name, { fallback, schema }]) => {
    const result = schema.safeParse(said[name] ?? fallback)
    if (!result.success) problems.push(`${name}: ${result.error.issues[0]?.message ?? 'is wrong'}`)
    return [name, result.data]
  })
  // The entries are made from the settings themselves, each parsed by its own schema.
  const config = Object.freeze(Object.fromEntries(entries)) as Config
  if (config.SEARCH === 'pgvector' && config.DATABASE_URL === '')
    problems.push('SEARCH: pgvector searches in PostgreSQL; set DATABASE_URL=postgres://…')
  if (problems.length > 0) throw new Error(`wrong configuration: ${problems.join('; ')}`)
  return config
}
