import path from 'node:path'
import { quoteForShell } from '../../lib/escaping/quote-for-shell.ts'
import type { CommandValues } from '../command.ts'

export const urlDefault = 'http://127.0.0.1:8080'
export const concurrencyDefault = 4
export const journalDefault = 'facegate-import.jsonl'

/** The values of `facegate import`. */
export type ImportOptions = CommandValues<'journal', 'url' | 'key' | 'face-policy'> & {
  /** A folder or a list, as an absolute path. */
  readonly source: string
  readonly groups: readonly string[] | undefined
  /** Images per second. */
  readonly rate: number | undefined
  readonly concurrency: number
}

/** Returns the command line that continues an import, without the secret key. */
export function resumeCommand(options: ImportOptions): string {
  const given: readonly (readonly [name: string, value: string | number | undefined])[] = [
    ['--url', options.url],
    ['--key', options.key === undefined ? undefined : '<key>'],
    ['--groups', options.groups?.join(',')],
    ['--face-policy', options['face-policy']],
    ['--rate', options.rate],
    ['--concurrency', options.concurrency === concurrencyDefault ? undefined : options.concurrency],
    ['--journal', options.journal === path.resolve(journalDefault) ? undefined : options.journal],
  ]
  const parts = given.flatMap(([name, value]) =>
    value === undefined ? [] : [name, quoteForShell(String(value))],
  )
  return ['facegate import', quoteForShell(options.source), ...parts].join(' ')
}
