import { setupLinkPath, createSetupLink } from '../../console/auth/setup.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { print } from '../output.ts'
import { readSettings } from '../read-settings.ts'
import { requireAccountId, withStore } from '../with-store.ts'

export async function createLink({ json }: { readonly json: boolean }): Promise<void> {
  const { HOST, PORT } = readSettings()
  const token = await withStore(async (store) => {
    const accountId = await requireAccountId(store)
    return auditedChange(store, 'session.createSetupLink', async ({ tx, nowMs }) => {
      const result = await createSetupLink(tx, null, nowMs)
      return { result, accountId, target: 'owner' }
    })
  })
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST
  const link = `http://${host}:${PORT}${setupLinkPath(token)}`
  print({ link }, json, () => link)
}
