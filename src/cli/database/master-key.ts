import { readConfig } from '../../config.ts'
import { addMasterKey, createMasterKeyFile } from '../../gallery/keys/keyring.ts'
import { rotateKeys, type RotateKeysResult } from '../../gallery/keys/rotate-keys.ts'
import { masterKeyPath } from '../../start/open-gallery.ts'
import { subcommands, type CliCommand } from '../command.ts'
import { flag, parseOptions, requireOption, text } from '../options.ts'
import { print } from '../output.ts'
import { withStore } from '../with-store.ts'

export const masterKey: CliCommand = {
  name: 'keys',
  summary: 'create the master key, rotate the keys that encrypt templates',
  usage: `facegate keys create --to <file> [--json]
facegate keys rotate [--prepared] [--json]
facegate keys add [--json]

  create writes a new master key to a new file, for servers that receive it as a
  secret. A single server creates its own.

  rotate encrypts the key of every subject with a new master key and destroys the old
  master key. After that, no older copy of the database, no backup and no part of its
  log can be decrypted: subjects and faces deleted before are unreadable there too.
  Subjects with a removed face or crop receive a new key. rotate works while the server
  runs, and can be repeated after an interruption.

  For several servers with copies of the file: add puts a new master key before the old
  one in your file. Distribute this file to every server. Then run rotate --prepared,
  and distribute the file again: it now contains only the new key.`,
  run: subcommands({ create, rotate, add }),
}

async function create(args: readonly string[]): Promise<void> {
  const { to, json } = parseOptions(args, { to: text })
  const file = requireOption(to, 'the new file', '--to <file>')
  if (!createMasterKeyFile(file)) throw new Error(`${file} exists already and was not changed`)
  print({ file }, json, () => `${file} contains a new master key; keep a copy elsewhere`)
}

async function rotate(args: readonly string[]): Promise<void> {
  const { prepared, json } = parseOptions(args, { prepared: flag })
  const masterKeyFile = masterKeyPath(readConfig(process.env))
  const result = await withStore((store) =>
    rotateKeys({ store, masterKeyFile, isPrepared: prepared, nowMs: Date.now }),
  )
  print(result, json, () => describeRotation(result))
}

function describeRotation({ subjects, renewed, unreadable }: RotateKeysResult): string {
  const lines = [`the keys of ${subjects} subjects are encrypted with a new master key`]
  if (renewed > 0) lines.push(`${renewed} of them have a new key, because data was removed`)
  if (unreadable > 0)
    lines.push(
      `${unreadable} changed or moved ciphertexts could not be decrypted and match nothing; ` +
        'enroll these faces again',
    )
  return lines.join('\n')
}

async function add(args: readonly string[]): Promise<void> {
  const { json } = parseOptions(args, {})
  const file = masterKeyPath(readConfig(process.env))
  const masterKeyId = addMasterKey(file)
  print({ masterKeyId, file }, json, () => `${file} has a new first key, ${masterKeyId}`)
}
