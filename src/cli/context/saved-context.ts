import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { type CommandValues, UsageError, formatTable, print } from '../command.ts'
import { urlDefault } from '../import/import-options.ts'
import { parseJsonText } from '../import/list-entries.ts'

const savedContext = z
  .strictObject({ url: z.url(), project: z.string(), key: z.string() })
  .partial()

type SavedContext = z.output<typeof savedContext>

function contextFile(): string {
  const { XDG_CONFIG_HOME, HOME, USERPROFILE = '.' } = process.env
  const folder = XDG_CONFIG_HOME || path.join(HOME ?? USERPROFILE, '.config')
  return path.resolve(folder, 'facegate', 'context.json')
}

/** Returns the saved values; none if nothing is saved. @throws Error if the file is not valid. */
export function readContext(): SavedContext {
  const file = contextFile()
  if (!existsSync(file)) return {}
  const context = parseJsonText(savedContext, readFileSync(file, 'utf8'))
  if (!context) throw new Error(`${file} is not a saved context; run facegate context clear`)
  return context
}

/** The options of commands that call a running service. */
export type ServiceOptions = Pick<CommandValues<never, 'url' | 'key'>, 'url' | 'key'>

export type ServiceAccess = { readonly url: string; readonly key: string }

/** Returns the address and the key of a service. @throws UsageError without a key. */
export function requireService(options: ServiceOptions): ServiceAccess {
  const { FACEGATE_URL, FACEGATE_KEY } = process.env
  const { url: savedUrl = urlDefault, key: savedKey } = readContext()
  const url = options.url ?? (FACEGATE_URL || savedUrl)
  // The saved key belongs to the saved address: it must not be sent to another one.
  const key = options.key ?? (FACEGATE_KEY || (url === savedUrl ? savedKey : undefined))
  if (!key) throw new UsageError('the API key was not given; pass --key <key>, or set FACEGATE_KEY')
  return { url, key }
}

export function set({ json, ...given }: CommandValues<never, keyof SavedContext>): void {
  const changes = Object.entries(given).filter(([, value]) => value !== undefined)
  if (changes.length === 0)
    throw new UsageError('there is nothing to save; pass --url, --project or --key')
  const { key, ...before } = readContext()
  const isSameUrl = given.url === undefined || given.url === before.url
  const context = { ...before, ...(isSameUrl && { key }), ...Object.fromEntries(changes) }
  const file = contextFile()
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  // A new file, because an existing one keeps its mode.
  rmSync(file, { force: true })
  writeFileSync(file, `${JSON.stringify(context)}\n`, { mode: 0o600, flag: 'wx' })
  show({ json })
}

export function show({ json }: CommandValues): void {
  const { key, ...context } = readContext()
  const shown = { ...context, ...(key && { key: `…${key.slice(-4)}` }), file: contextFile() }
  const rows = Object.entries(shown).map(([name, value]) => [name, String(value)])
  print(shown, json, () => formatTable(['value', 'saved'], rows))
}

export function clear({ json }: CommandValues): void {
  const file = contextFile()
  rmSync(file, { force: true })
  print({ file }, json, () => `${file} does not exist any more`)
}
