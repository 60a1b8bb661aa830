import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { isOrigin } from './validation/text-forms.ts'

/** One setting: an environment variable that is validated and converted at startup. */
export type Setting<T> = {
  /** The text that applies when the variable is not set. */
  readonly defaultValue: string
  /** What the documentation shows where the default differs between machines. */
  readonly defaultText?: string
  /** The permitted values and their unit, in Markdown; empty for free text. */
  readonly range: string
  readonly schema: z.ZodType<T, string>
  /** Whether the value may contain a password. The console and support bundles do not show it. */
  readonly isSecret?: boolean
}

/** Returns the constructor of settings that are whole numbers of `unit`. */
export function integerSetting(unit: string) {
  return (
    defaultValue: number,
    [min, max]: readonly [min: number, max: number],
  ): Setting<number> => {
    const range = `${min} to ${max} ${unit}`.trimEnd()
    const rule = `must be a whole number from ${range}`
    const schema = z
      .string()
      .regex(/^\d{1,15}$/u, rule)
      .transform(Number)
      .pipe(z.number().min(min, rule).max(max, rule))
    return { defaultValue: String(defaultValue), range, schema }
  }
}

/** An amount of money in millionths of the currency. */
export function microsSetting(defaultValue: bigint, digitsMax: number): Setting<bigint> {
  return {
    defaultValue: String(defaultValue),
    range: `micros of up to ${digitsMax} digits`,
    schema: z
      .string()
      .regex(
        new RegExp(String.raw`^\d{1,${digitsMax}}$`, 'u'),
        `must be a whole number of millionths of up to ${digitsMax} digits`,
      )
      .transform(BigInt),
  }
}

/** A number from 0 to 1. */
export function ratioSetting(defaultValue: number): Setting<number> {
  return {
    defaultValue: String(defaultValue),
    range: '0 to 1',
    schema: z
      .string()
      .regex(/^\d*\.?\d+$/u, 'must be a number from 0 to 1')
      .transform(Number)
      .pipe(z.number().max(1, 'must be a number from 0 to 1')),
  }
}

/** One of the listed words. */
export function choiceSetting<const Word extends string>(
  defaultValue: Word,
  words: readonly Word[],
): Setting<Word> {
  const range = words.map((word) => `\`${word}\``).join(', ')
  return {
    defaultValue,
    range,
    schema: z.enum(words, `must be one of ${words.join(', ')}`),
  }
}

/** A list of the given words, separated by commas; none by default. */
export function listSetting<const Word extends string>(
  words: readonly Word[],
): Setting<readonly Word[]> {
  const range = words.map((word) => `\`${word}\``).join(', ')
  const isWord = (text: string): text is Word => words.some((word) => word === text)
  const schema = z.string().transform((text, context): readonly Word[] => {
    const items = splitList(text)
    const unknown = items.filter((item) => !isWord(item))
    if (unknown.length > 0)
      context.addIssue({
        code: 'custom',
        message: `must be a list of ${words.join(', ')}, separated by commas; ${unknown.join(', ')} is not one of them`,
      })
    return items.filter(isWord)
  })
  return { defaultValue: '', range, schema }
}

/** Returns the items of a list that is separated by commas, each once. */
export function splitList(text: string): string[] {
  const items = text.split(',').map((item) => item.trim())
  return [...new Set(items.filter((item) => item !== ''))]
}

/** A list of web origins, or `*` for any; none by default. */
export function originsSetting(): Setting<readonly string[]> {
  const schema = z
    .string()
    .transform(splitList)
    .refine(
      (origins) => origins.every(isOrigin) || (origins.length === 1 && origins[0] === '*'),
      'must be * or a list of origins such as https://app.example.org, separated by commas: scheme, host and port only, in lower case, without a path, a slash at the end or a wildcard',
    )
  return { defaultValue: '', range: 'origins, or `*`', schema }
}

/** Accepts the empty text or one origin. */
export const publicUrl = z
  .string()
  .refine(
    (text) => text === '' || isOrigin(text),
    'must be an origin such as https://faces.example.org: scheme, host and port only, in lower case, without a path or a slash at the end',
  )

/** A text. Without `schema`, every text is accepted, the empty one included. */
export function textSetting(
  defaultValue: string,
  schema: z.ZodType<string, string> = z.string(),
): Setting<string> {
  return { defaultValue, range: '', schema }
}

export const nonEmptyText = z.string().min(1, 'must not be empty')

/** Accepts the empty text or the URL of a PostgreSQL database. Does not connect. */
export const databaseUrl = z
  .string()
  .refine(
    (text) => text === '' || (/^postgres(?:ql)?:\/\//u.test(text) && URL.canParse(text)),
    'must be empty for SQLite under DATA_DIR, or begin with postgres://',
  )

/** Accepts the empty text or an http or https URL without credentials. */
export const collectorUrl = z
  .string()
  .refine(
    (text) => text === '' || isCollectorUrl(text),
    'must be an http or https address without a password',
  )

/** Accepts a list of networks in CIDR notation, separated by commas, or the empty text. */
export const networkList = z
  .string()
  .refine(
    (text) => splitList(text).every(isNetwork),
    'must be a list of networks such as 10.0.0.0/8,fd00::/8, those of IPv4 without ::ffff:',
  )

/** Webhook addresses that IPv6 maps to IPv4 are compared as IPv4. */
const isNetwork = (text: string): boolean =>
  ipaddr.isValidCIDR(text) && ipaddr.parseCIDR(text)[0].range() !== 'ipv4Mapped'

function isCollectorUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/u.test(url.protocol) && url.username + url.password === ''
}

/** The settings whose values depend on each other. */
type DependentSettings = {
  readonly SEARCH: string
  readonly DATABASE_URL: string
  readonly BODY_BYTES_MAX: number
  readonly BODIES_PER_PROJECT_BYTES_MAX: number
  readonly BODIES_PER_ACCOUNT_BYTES_MAX: number
  readonly BODIES_BYTES_MAX: number
  readonly VISION_QUEUE_BYTES_MAX: number
}

/** Each must be at least the one before it. */
const bodySettings = [
  'BODY_BYTES_MAX',
  'BODIES_PER_PROJECT_BYTES_MAX',
  'BODIES_PER_ACCOUNT_BYTES_MAX',
  'BODIES_BYTES_MAX',
] as const

/** Returns one problem for each setting whose value does not fit the value of another. */
export function findSettingConflicts(config: DependentSettings): readonly string[] {
  const { BODY_BYTES_MAX } = config
  const problems: string[] = []
  if (config.SEARCH === 'pgvector' && config.DATABASE_URL === '')
    problems.push('SEARCH: pgvector searches in PostgreSQL; set DATABASE_URL=postgres://…')
  for (const [index, name] of bodySettings.entries()) {
    const smaller = bodySettings[index - 1]
    if (smaller && config[smaller] > config[name])
      problems.push(`${name}: must be at least ${smaller}, ${config[smaller]}`)
  }
  if (config.VISION_QUEUE_BYTES_MAX < BODY_BYTES_MAX)
    problems.push('VISION_QUEUE_BYTES_MAX: must be at least BODY_BYTES_MAX, or no call fits')
  return problems
}
