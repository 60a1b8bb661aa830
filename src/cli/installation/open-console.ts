import { execFile } from 'node:child_process'
import { hasActiveUser } from '../../store/console/users.ts'
import { print } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { createOwnerLink } from '../tenancy/console-link.ts'
import { requireAccountId, withStore } from '../with-store.ts'
import { localAddress, publicAddress, requestStatus } from './service-address.ts'

/**
 * Prints the address of the console and opens it in a browser. While the console has no user, the
 * address is a link that sets the password of an owner. Such a link is not passed to a program:
 * other users of the machine can read the arguments of programs.
 */
export async function open({ json }: { readonly json: boolean }): Promise<void> {
  const config = readSettings()
  const link = await withStore(async (store) =>
    (await store.read(hasActiveUser))
      ? undefined
      : createOwnerLink(store, await requireAccountId(store)),
  )
  const address = `${publicAddress(config)}${link ?? '/'}`
  const local = localAddress(config)
  const { status, detail } = await requestStatus(`${local}/healthz`)
  if (status === null) console.error(`${local} does not answer: ${detail}; run facegate serve`)
  else if (link === undefined && !json && process.stdout.isTTY) startBrowser(address)
  print({ address, isSetupLink: link !== undefined }, json, () => address)
}

/** Without a browser or a screen, the printed address remains. */
function startBrowser(address: string): void {
  const programs: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' }
  execFile(programs[process.platform] ?? 'xdg-open', [address], () => {}).unref()
}
