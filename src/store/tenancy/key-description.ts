import type { Selectable } from 'kysely'
import type { KeyRow, ProjectRow } from '../schema.ts'
import type { BucketState } from '../gate/bucket-state.ts'
import type { Balance } from '../billing/balances.ts'
import type { ReadTx } from '../database.ts'
import { budgetLedger } from './projects.ts'

/** A key and its project, with the state of the project's bucket and budget. */
export type KeyDescriptionRow = BucketState &
  Pick<Balance, 'balanceMicros' | 'reservedMicros'> &
  Pick<Selectable<ProjectRow>, 'galleryMode' | 'billing'> &
  Pick<Selectable<KeyRow>, 'expiresAtUtc'> & {
    readonly keyName: string
    readonly projectName: string
  }

/** Reads a key, its project, its rate limit and its budget without locking them. */
export async function readKeyDescription(
  tx: ReadTx,
  { keyId, projectId }: Pick<Selectable<KeyRow>, 'keyId' | 'projectId'>,
): Promise<KeyDescriptionRow | undefined> {
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
