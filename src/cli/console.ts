import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { linkPath, makeLink } from '../console/setup.ts'
import { addAct } from '../store/admin-acts.ts'
import { print, theAccountId, verbs, withStore } from './admin.ts'
import type { Command } from './command.ts'

export const consoleLink: Command = {
  name: 'console',
  summary: 'make a one-time link that sets the password of an owner of the console',
  usage: `facegate console link [--json]

  The link opens once, within a day: name a new owner there, or yourself if you have
  lost your password. An older link that was not used opens nothing any more.`,
  run: verbs({ link }),
}

async function link(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const { HOST, PORT } = readConfig(process.env)
  const token = await withStore(async (store) => {
    const accountId = await theAccountId(store)
    const atMs = Date.now()
    const who = { userId: null, userName: 'command line', ip: '' }
    return store.write(async (tx) => {
      await addAct(tx, {
        accountId,
        atMs,
        ...who,
        act: 'session.link',
        target: 'owner',
        detail: '{}',
      })
      return makeLink(tx, null, atMs)
    })
  })
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST
  const address = `http://${host}:${PORT}${linkPath(token)}`
  print({ link: address }, values.json, () => address)
}
