import { setupLinkPath, createSetupLink } from '../../console/auth/setup.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import { print } from '../output.ts'
import { readSettings } from '../read-settings.ts'
import { requireAccountId, withStore } from '../with-store.ts'

export async function createLink({ json }: { readonly json: boolean }): Promise<void> {
  const { HOST, PORT } = readSettings()
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
