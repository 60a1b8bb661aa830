import { cliOutput } from '../test/support/cli/run-cli.ts'
import { openTestStore } from '../test/support/database/engine.ts'
import type { CallRecord } from './load/call-record.ts'
import type { SoakServer } from './server.ts'

/** The comparison of the database with the responses that the clients received. */
export type DataCheck = {
  /** Acknowledged calls without a charge, and acknowledged subjects that are absent. */
  readonly lost: readonly string[]
  /** Requests with more than one charge. */
  readonly doubleBilled: readonly string[]
  /** Rejected requests with a charge. */
  readonly wronglyBilled: readonly string[]
  /** Deleted subjects that are present. */
  readonly returned: readonly string[]
  /** The audit rules L1 to L9 that are broken. */
  readonly brokenRules: readonly string[]
}

/** Checks the database of a stopped service. */
export async function checkData(dataDir: string, record: CallRecord): Promise<DataCheck> {
  const store = await openTestStore(dataDir)
  const charges = new Map<string, number>()
  let subjects: Set<string>
  try {
    const transfers = await store.db
      .selectFrom('ledgerTransfers')
      .select('requestId')
      .where('kind', '=', 'charge')
      .execute()
    for (const { requestId } of transfers)
      if (requestId !== null) charges.set(requestId, (charges.get(requestId) ?? 0) + 1)
    const rows = await store.db.selectFrom('subjects').select('subjectId').execute()
    subjects = new Set(rows.map(({ subjectId }) => subjectId))
  } finally {
    await store.close()
  }
  const { acknowledged, rejected, deletedAtMs } = record
  return {
    lost: [
      ...[...acknowledged].filter((id) => !charges.has(id)),
      ...record.subjects.filter((id) => !subjects.has(id)),
    ],
    doubleBilled: [...charges].filter(([, count]) => count > 1).map(([id]) => id),
    wronglyBilled: [...rejected].filter((id) => charges.has(id)),
    returned: [...deletedAtMs.keys()].filter((id) => subjects.has(id)),
    brokenRules: await brokenAuditRules(dataDir),
  }
}

async function brokenAuditRules(dataDir: string): Promise<string[]> {
  const environment = { DATA_DIR: dataDir, LOG_LEVEL: 'silent' }
  const output = await cliOutput(['ledger', 'verify', '--json'], environment).catch(
    (error: unknown) => `failed: ${String(error)}`,
  )
  const text = output.trim().split('\n').at(-1) ?? ''
  if (!text.startsWith('{')) return [output]
  const { checks } = JSON.parse(text) as { checks: { name: string; ok: boolean; detail: string }[] }
  if (checks.length !== 9) return [`${checks.length} of 9 rules were checked`]
  return checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)
}

/** Reads every subject through the API. @returns the differences from the acknowledged state. */
export async function checkSubjects(server: SoakServer, record: CallRecord): Promise<string[]> {
  const { url, key } = await server.running()
  const status = async (subjectId: string): Promise<number> => {
    const response = await fetch(`${url}/v1/subjects/${subjectId}`, {
      headers: { 'x-api-key': key },
    })
    await response.text()
    return response.status
  }
  const problems: string[] = []
  for (const subjectId of record.subjects)
    if ((await status(subjectId)) !== 200) problems.push(`subject ${subjectId} is absent`)
  for (const subjectId of [...record.deletedAtMs.keys()].slice(-1000))
    if ((await status(subjectId)) !== 404) problems.push(`subject ${subjectId} is back`)
  return problems
}
