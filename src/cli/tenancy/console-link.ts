import { readConfig } from '../../config.ts'
import { setupLinkPath, createSetupLink } from '../../console/auth/setup.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import { subcommands, type CliCommand } from '../command.ts'
import { parseOptions } from '../options.ts'
import { print } from '../output.ts'
import { requireAccountId, withStore } from '../with-store.ts'

export const consoleLink: CliCommand = {
  name: 'console',
  summary: 'create a one-time link that sets the password of an owner of the console',
  usage: `facegate console link [--json]

  The link works once and expires in one day. It creates a new owner, or replaces your
  password if you have lost it. An earlier unused link becomes invalid.`,
  run: subcommands({ link: createLink }),
}

async function createLink(args: readonly string[]): Promise<void> {
  const { json } = parseOptions(args, {})
  const { HOST, PORT } = readConfig(process.env)
  const token = await withStore(async (store) => {
    const accountId = await requireAccountId(store)
    const atMs = Date.now()
    const actor = { userId: null, userName: 'command line', ip: '' }
    return store.write(async (tx) => {
      await addAuditEntry(tx, {
        accountId,
        atMs,
        ...actor,
        act: 'session.createSetupLink',
        target: 'owner',
        detail: '{}',
      })
      return createSetupLink(tx, null, atMs)
    })
  })
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST
  const link = `http://${host}:${PORT}${setupLinkPath(token)}`
  print({ link }, json, () => link)
}
