import { existsSync } from 'node:fs'
import path from 'node:path'
import { parseUtc } from '../../lib/clock.ts'
import { livenessOriginsMax } from '../../lib/limits/call-limits.ts'
import { type Micros, parseMicros, unitPriceDigitsMax } from '../../lib/money.ts'
import { isOrigin, namePattern } from '../../lib/validation/text-forms.ts'
import { type ChoiceList, UsageError, type ValueKind } from '../command.ts'
import { nearestName } from './nearest-name.ts'

/** Any text. */
export const anyText: ValueKind<string> = { parse: (text) => text }

/** The name of a key, a project or an account, in Unicode NFC. */
export const name: ValueKind<string> = {
  rule: 'a text of 1 to 128 characters without invisible characters and spaces at the ends',
  parse: (text) =>
    /^\S(?:.{0,126}\S)?$/u.test(text) && namePattern.test(text) ? text.normalize('NFC') : undefined,
}

/** A file; the value is its absolute path, so that every message names it in full. */
export const filePath = pathOf('file')

/** A file that the command writes, in an existing folder; the value is its absolute path. */
export const outputFile: ValueKind<string> = {
  ...filePath,
  parse: (text) => {
    const folder = path.dirname(path.resolve(text))
    if (existsSync(folder)) return filePath.parse(text)
    throw new UsageError(`the folder ${folder} does not exist; create it, or name another file`)
  },
}

/** A picture that the command writes; its extension selects the format. */
export function pictureOutput(...extensions: readonly string[]): ValueKind<string> {
  return {
    ...outputFile,
    parse: (text) => {
      if (extensions.includes(path.extname(text).toLowerCase())) return outputFile.parse(text)
      throw new UsageError(`the name ${text} must end in ${joinOr(extensions)}`)
    },
  }
}

/** A folder; the value is its absolute path. */
export const folderPath = pathOf('folder')

function pathOf(completes: 'file' | 'folder'): ValueKind<string> {
  return {
    rule: `the name of a ${completes}`,
    completes,
    parse: (text) => (text === '' ? undefined : path.resolve(text)),
  }
}

/** A date or a time; without an offset it is UTC. */
export const timeUtc: ValueKind<Date> = {
  rule: 'a date or time in ISO 8601, such as 2030-01-31T00:00:00Z',
  parse: parseUtc,
}

/** An amount of money other than 0; a negative one moves money back. */
export const signedMicros: ValueKind<Micros> = {
  rule: 'a whole number of micros other than 0',
  parse: (text) => parseMicros(text) || undefined,
}

/** An amount of money above 0. */
export const positiveMicros: ValueKind<Micros> = {
  rule: 'a whole number of micros above 0',
  parse: (text) => {
    const micros = parseMicros(text)
    return micros > 0n ? micros : undefined
  },
}

/** The price of one unit. */
export const unitPrice: ValueKind<Micros> = {
  rule: `a whole number of micros of up to ${unitPriceDigitsMax} digits, 0 or more`,
  parse: (text) => {
    const micros = parseMicros(text)
    return micros >= 0n && text.length <= unitPriceDigitsMax ? micros : undefined
  },
}

/** A whole number in a range. */
export function wholeNumber(min: number, max: number): ValueKind<number> {
  return { ...numberOf(/^\d{1,15}$/u, min, max), rule: `a whole number from ${min} to ${max}` }
}

/** A number in a range, with up to six decimals. */
export function numberBetween(min: number, max: number): ValueKind<number> {
  return numberOf(/^\d{1,9}(?:\.\d{1,6})?$/u, min, max)
}

/** A number from 0 to 1 with up to six decimals. */
export const share = numberOf(/^[01](?:\.\d{1,6})?$/u, 0, 1)

function numberOf(pattern: RegExp, min: number, max: number): ValueKind<number> {
  return {
    rule: `a number from ${min} to ${max}`,
    parse: (text) => {
      const value = pattern.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= max ? value : undefined
    },
  }
}

/** `on` or `off`. */
export const onOrOff: ValueKind<boolean> = {
  rule: 'on or off',
  choices: ['on', 'off'],
  parse: (text) => (text === 'on' || text === 'off' ? text === 'on' : undefined),
}

/** Another kind, or a name such as `default`, whose value is null. */
export function orDefault<Value>(
  kind: ValueKind<Value>,
  name = 'default',
): ValueKind<Value | null> {
  return {
    ...kind,
    rule: `${kind.rule}, or ${name}`,
    parse: (text) => (text === name ? null : kind.parse(text)),
  }
}

/** One of a few values, which the help lists. */
export function oneOf<const Value extends string>(values: readonly Value[]): ValueKind<Value> {
  return {
    rule: joinOr(values),
    choices: values,
    parse: (text) => values.find((value) => value === text),
  }
}

/** A name of a list. The error message has the nearest name, or the list. */
export function nameFrom(
  choices: ChoiceList,
  isOther: (text: string) => boolean = () => false,
): ValueKind<string> {
  return {
    choices,
    parse: async (text) =>
      isOther(text) ? text : requireName(text, await resolveChoices(choices)),
  }
}

/** Names of a list, separated by commas. Repeated names count once. */
export function namesFrom(choices: ChoiceList): ValueKind<readonly string[]> {
  return {
    choices,
    isList: true,
    parse: async (text) => {
      const names = await resolveChoices(choices)
      return [...new Set(splitList(text).map((name) => requireName(name, names)))]
    },
  }
}

/** Texts separated by commas, at least one. */
export const textList: ValueKind<readonly string[]> = {
  rule: 'one or more texts separated by commas',
  parse: (text) => {
    const items = splitList(text)
    return items.every((item) => item !== '') ? items : undefined
  },
}

export async function resolveChoices(choices: ChoiceList): Promise<readonly string[]> {
  return typeof choices === 'function' ? choices() : choices
}

function requireName(text: string, names: readonly string[]): string {
  if (names.includes(text)) return text
  const nearest = nearestName(text, names)
  throw new UsageError(
    `${text === '' ? 'an empty value' : text} is not valid; ` +
      (nearest === undefined ? `use ${joinOr(names)}` : `did you mean ${nearest}?`),
  )
}

function splitList(text: string): string[] {
  return text.split(',').map((item) => item.trim())
}

function joinOr(values: readonly string[]): string {
  return values.length < 2
    ? values.join('')
    : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}

/** Origins of web pages, or `none`. */
export const originsOrNone: ValueKind<readonly string[]> = {
  rule: `up to ${livenessOriginsMax} origins such as https://app.example.org, separated by commas, or none`,
  parse: (text) => {
    const origins = text === 'none' ? [] : splitList(text)
    const isValid = origins.length <= livenessOriginsMax && origins.every(isOrigin)
    return isValid && (origins.length > 0 || text === 'none') ? origins : undefined
  },
}

/** The address of a service, without a slash at its end. */
export const serviceUrl: ValueKind<string> = {
  rule: 'an address that starts with http:// or https://',
  parse: (text) =>
    URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol)
      ? text.replace(/\/+$/u, '')
      : undefined,
}
