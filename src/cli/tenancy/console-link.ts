import { parseArgs } from 'node:util'
import { readConfig } from '../../config.ts'
import { setupLinkPath, createSetupLink } from '../../console/auth/setup.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import { print, requireAccountId, subcommands, withStore } from '../with-store.ts'
import type { CliCommand } from '../command.ts'

export const consoleLink: CliCommand = {
  name: 'console',
  summary: 'make a one-time link that sets the password of an owner of the console',
  usage: `facegate console link [--json]

  The link opens once, within a day: name a new owner there, or yourself if you have
  lost your password. An older link that was not used opens nothing any more.`,
  run: subcommands({ link: createLink }),
}

async function createLink(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const { HOST, PORT } = readConfig(process.env)
  const token = await withStore(async (store) => {
    const accountId = await requireAccountId(store)
    const atMs = Date.now()
    const who = { userId: null, userName: 'command line', ip: '' }
    return store.write(async (tx) => {
      await addAuditEntry(tx, {
        accountId,
        atMs,
        ...who,
        act: 'session.createSetupLink',
        target: 'owner',
        detail: '{}',
      })
      return createSetupLink(tx, null, atMs)
    })
  })
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST
  const address = `http://${host}:${PORT}${setupLinkPath(token)}`
  print({ link: address }, values.json, () => address)
}
