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
import { unitPriceDigitsMax } from './lib/money.ts'
import descriptions from './lib/settings/setting-descriptions.json' with { type: 'json' }

const mebibyte = 1024 * 1024

const count = integerSetting('')
const pixels = integerSetting('pixels')
const bytes = integerSetting('bytes')
const ms = integerSetting('ms')
const days = integerSetting('days')
const perSecond = integerSetting('per second')

const server = {
  PORT: count(8080, [0, 65_535]),
  HOST: textSetting('127.0.0.1', nonEmptyText.regex(/^[^[\]]*$/u, 'must have no brackets')),
  PUBLIC_URL: textSetting('', publicUrl),
  TRUST_PROXY: count(0, [0, 8]),
  CONNECTIONS_MAX: count(10_000, [1, 1_000_000]),
  CONNECTIONS_PER_ADDRESS_MAX: count(1000, [1, 1_000_000]),
  HEADERS_TIMEOUT_MS: ms(10_000, [100, 600_000]),
  REQUEST_TIMEOUT_MS: ms(30_000, [100, 600_000]),
  WRITE_TIMEOUT_MS: ms(20_000, [100, 600_000]),
  SHUTDOWN_DELAY_MS: ms(0, [0, 600_000]),
  DRAIN_TIMEOUT_MS: ms(15_000, [0, 600_000]),
  COMPREFACE_API: choiceSetting('off', ['off', 'on']),
  BEARER_KEYS: choiceSetting('off', ['off', 'on']),
  CORS_ORIGINS: originsSetting(),
  BINARY_BODIES: choiceSetting('off', ['off', 'on']),
  LOG_LEVEL: choiceSetting('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
} as const

const storage = {
  DATA_DIR: textSetting('./data', nonEmptyText),
  MODELS_DIR: textSetting(''),
  DATABASE_URL: {
    ...textSetting('', databaseUrl),
    isSecret: true,
  },
  DATABASE_URL_FILE: textSetting(''),
  DATABASE_CONNECTIONS_MAX: count(16, [2, 1000]),
  MASTER_KEY_FILE: textSetting(''),
  DELETIONS_FILE: textSetting(''),
} as const

const requestLimits = {
  BODY_BYTES_MAX: bytes(arrivals.body, [1024, 256 * mebibyte]),
  BODIES_BYTES_MAX: bytes(256 * mebibyte, [1024, 16_384 * mebibyte]),
  BODIES_PER_ACCOUNT_BYTES_MAX: bytes(192 * mebibyte, [1024, 16_384 * mebibyte]),
  BODIES_PER_PROJECT_BYTES_MAX: bytes(128 * mebibyte, [1024, 16_384 * mebibyte]),
  BODY_BYTES_PER_S_MIN: count(4096, [0, mebibyte]),
  IMAGE_BYTES_MAX: bytes(arrivals.image, [1024, 256 * mebibyte]),
  IMAGE_PIXELS_MAX: pixels(40_000_000, [1024, 1e9]),
  IMAGE_SIDE_MIN_PX: pixels(32, [1, 10_000]),
  IMAGE_TYPES_EXTRA: listSetting(extraImageTypes),
  JSON_DEPTH_MAX: count(16, [4, 1000]),
  JSON_TOKENS_MAX: count(10_000, [100, 1_000_000]),
} as const

const imageAnalysis = {
  VISION_WORKERS: {
    ...count(availableParallelism(), [1, 256]),
    defaultText: 'one per core',
  },
  MODEL_LICENCES: choiceSetting('any', ['any', 'commercial']),
  MODEL_LICENCES_CLEARED: textSetting(''),
  VISION_INT8: choiceSetting('auto', ['auto', 'on', 'off']),
  VISION_QUEUE_PER_WORKER_MAX: count(smallestQueue.images, [imagesPerCallMax, 1000]),
  VISION_QUEUE_BYTES_MAX: bytes(smallestQueue.bytes, [mebibyte, 16_384 * mebibyte]),
  VISION_QUEUE_WAIT_MS_MAX: ms(20_000, [10, 600_000]),
  VISION_TIMEOUT_MS: ms(5000, [100, 600_000]),
  VISION_WORKER_IMAGES_MAX: count(5000, [1, 1e9]),
} as const

const calls = {
  RATE_SUSTAINED_PER_S: perSecond(10, [1, 10_000]),
  RATE_BURST: count(arrivals.burst, [1, 100_000]),
  AUTH_FAILURES_PER_S: perSecond(1, [1, 10_000]),
  AUTH_FAILURES_BURST: count(20, [1, 100_000]),
  CALL_TIMEOUT_MS: ms(30_000, [1000, 600_000]),
  REPLAY_WINDOW_MS: ms(24 * hourMs, [1000, 31 * 24 * hourMs]),
  REPLAY_BYTES_MAX: bytes(2048 * mebibyte, [mebibyte, 1024 * 1024 * mebibyte]),
  IN_FLIGHT_WAIT_MS_MAX: ms(10_000, [0, 600_000]),
  LIVENESS_FAILURES_PER_MINUTE_MAX: count(10, [1, 100_000]),
  LIVENESS_SESSIONS_OPEN_MAX: count(1000, [1, 1_000_000]),
  LIVENESS_FRAMES_BYTES_MAX: bytes(256 * mebibyte, [4 * mebibyte, 1024 * 1024 * mebibyte]),
  LOG_RETENTION_DAYS: days(365, [1, 36_500]),
} as const

const billing = {
  UNIT_PRICE_MICROS: microsSetting(1000n, unitPriceDigitsMax),
  STARTER_CREDIT_MICROS: microsSetting(10_000_000n, 18),
} as const

const galleries = {
  RETENTION_DAYS: days(1095, [1, 36_500]),
  SUBJECT_TEMPLATES_MAX: count(20, [1, 1000]),
  GALLERY_TEMPLATES_MAX: count(1_000_000, [1, 15_000_000]),
  GROUP_DELETION_SUBJECTS_MAX: count(15_000, [1, 100_000]),
  SEARCH: choiceSetting('memory', ['memory', 'pgvector']),
  SEARCH_EXACT_SUBJECTS_MAX: count(100_000, [0, 1_000_000_000]),
} as const

const webhooks = {
  WEBHOOK_ALLOWED_NETWORKS: textSetting('', networkList),
  WEBHOOK_ALLOW_HTTP: choiceSetting('off', ['off', 'on']),
  WEBHOOK_TIMEOUT_MS: ms(10_000, [100, 60_000]),
  WEBHOOK_RETRY_MS: ms(10_000, [10, 3_600_000]),
  WEBHOOK_CONCURRENCY: count(8, [1, 100]),
  WEBHOOK_OUTBOX_MAX: count(10_000, [1, 1_000_000]),
  WEBHOOK_RETENTION_DAYS: days(7, [3, 365]),
} as const

const openTelemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: textSetting('', collectorUrl),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: textSetting('', collectorUrl),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: textSetting('', collectorUrl),
  OTEL_SERVICE_NAME: textSetting(''),
  OTEL_TRACES_SAMPLER: choiceSetting('parentbased_always_on', [
    'always_on',
    'always_off',
    'traceidratio',
    'parentbased_always_on',
    'parentbased_always_off',
    'parentbased_traceidratio',
  ]),
  OTEL_TRACES_SAMPLER_ARG: ratioSetting(1),
  OTEL_METRIC_EXPORT_INTERVAL: ms(60_000, [100, 3_600_000]),
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

/** What each setting does: sentences in Markdown. Links are relative to `docs/`. */
export const settingDescriptions: Readonly<Record<keyof SettingDefinitions, string>> = descriptions

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
