import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { rotateKeys } from '../gallery/rotate.ts'
import { masterKeyFile } from '../memory.ts'
import { print, verbs, withStore } from './admin.ts'
import type { Command } from './command.ts'

export const keys: Command = {
  name: 'keys',
  summary: 'rotate the keys that templates are encrypted under',
  usage: `facegate keys rotate [--json]

  Wraps the key of every subject anew and destroys the old master key. From then on
  no older copy of the database, no backup and no piece of its log can be opened:
  who was deleted before is gone from them too. Works beside a running server, and
  can be run again when it was cut off.`,
  run: verbs({ rotate }),
}

async function rotate(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const file = masterKeyFile(readConfig(process.env))
  const done = await withStore((store) =>
    rotateKeys({ store, masterKeyFile: file, nowMs: Date.now }),
  )
  print(done, values.json, () => `${done.subjects} subjects have keys under a new master key`)
}
