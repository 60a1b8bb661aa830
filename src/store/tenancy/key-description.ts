import type { Selectable } from 'kysely'
import type { KeyRow } from '../schema.ts'
import type { ReadTx } from '../database.ts'
import { budgetLedger } from './projects.ts'

/** Reads a key, its project, its rate limit and its budget without locking them. */
export async function readKeyDescription(
  tx: ReadTx,
  { keyId, projectId }: Pick<Selectable<KeyRow>, 'keyId' | 'projectId'>,
) {
  const query = tx.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .innerJoin('buckets', 'buckets.projectId', 'projects.projectId')
    .innerJoin('ledgers', (join) => join.on('ledgers.ledger', '=', budgetLedger(projectId)))
    .select(['keys.name as keyName', 'keys.expiresAtUtc', 'projects.name as projectName'])
    .select(['galleryMode', 'billing', 'sustainedPerS', 'burst', 'fullAtUs'])
    .select(['ledgers.balanceMicros', 'ledgers.reservedMicros'])
    .where('keys.keyId', '=', keyId)
  return (await tx.run(query))[0]
}
