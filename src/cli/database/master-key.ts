import { parseArgs } from 'node:util'
import { readConfig } from '../../config.ts'
import { addMasterKey, createMasterKeyFile } from '../../gallery/keys/keyring.ts'
import { rotateKeys } from '../../gallery/keys/rotate-keys.ts'
import { masterKeyPath } from '../../start/open-gallery.ts'
import { print, subcommands, withStore } from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'

export const masterKey: CliCommand = {
  name: 'keys',
  summary: 'make the master key, rotate the keys that templates are encrypted under',
  usage: `facegate keys make --to <file> [--json]
facegate keys rotate [--prepared] [--json]
facegate keys add [--json]

  make writes a new master key into a new file, for servers that are given it as a
  secret; a server alone makes its own.

  rotate wraps the key of every subject anew and destroys the old master key. From then
  on no older copy of the database, no backup and no piece of its log can be opened:
  who was deleted before is gone from them too. Works beside a running server, and
  can be run again when it was cut off.

  Where several servers have copies of the file: add puts a new master key into yours,
  before the old one; give that file to every server; then rotate --prepared, and give
  them the file again, which has the new key alone.`,
  run: subcommands({ make: create, rotate, add }),
}

const json = { type: 'boolean', default: false } as const

async function create(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { to: { type: 'string' }, json } })
  const { to: file } = values
  if (file === undefined) throw new UsageError('name the new file with --to')
  if (!createMasterKeyFile(file)) throw new Error(`${file} is there already, and stays as it is`)
  print({ file }, values.json, () => `a new master key is in ${file}; keep a copy elsewhere`)
}

async function rotate(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { prepared: { type: 'boolean', default: false }, json },
  })
  const file = masterKeyPath(readConfig(process.env))
  const done = await withStore((store) =>
    rotateKeys({ store, masterKeyFile: file, isPrepared: values.prepared, nowMs: Date.now }),
  )
  print(done, values.json, () => `${done.subjects} subjects have keys under a new master key`)
}

async function add(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json } })
  const file = masterKeyPath(readConfig(process.env))
  const masterKeyId = addMasterKey(file)
  print({ masterKeyId, file }, values.json, () => `${file} has a new first key, ${masterKeyId}`)
}
