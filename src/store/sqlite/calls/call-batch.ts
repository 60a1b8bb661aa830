import type { DatabaseSync } from 'node:sqlite'
import type { AdmissionInput } from '../../gate/admission-facts.ts'
import type { SettlementInput } from '../../gate/statements.ts'
import { createAdmitBatch } from './admit-batch.ts'
import { createProjectStates } from './project-states.ts'
import { createSettleBatch } from './settle-batch.ts'
import type { PendingCounts } from './pending-counts.ts'

/** The admission or the settlement of a call that needs no other statement. */
export type CallJob =
  | { readonly kind: 'admit'; readonly input: AdmissionInput }
  | { readonly kind: 'settle'; readonly input: SettlementInput }

/** The result of a job, or the error that rolled it back. */
export type CallJobResult = { readonly value: unknown } | { readonly error: unknown }

export type CallBatch = {
  /**
   * Runs jobs in the open transaction. They read and write the rows of their projects once, not once
   * for each job.
   *
   * @throws Error if the database itself fails, see `isFatal`.
   */
  readonly run: (jobs: readonly CallJob[]) => readonly CallJobResult[]
}

type CallBatchOptions = {
  readonly pending: PendingCounts
  readonly isFatal: (error: unknown) => boolean
}

export function createCallBatch(
  connection: DatabaseSync,
  { pending, isFatal }: CallBatchOptions,
): CallBatch {
  const states = createProjectStates(connection)
  const { admit, reset } = createAdmitBatch(connection, states)
  const settle = createSettleBatch(connection, { states, countCall: pending.add })
  const begin = connection.prepare('SAVEPOINT calls')
  const release = connection.prepare('RELEASE calls')
  const runJob = (job: CallJob): CallJobResult => ({
    value: job.kind === 'admit' ? admit(job.input) : settle(job.input),
  })
  /** Runs all jobs, or none if one of them fails. */
  const runAll = (jobs: readonly CallJob[]): readonly CallJobResult[] => {
    const position = pending.position()
    begin.run()
    try {
      const results = jobs.map(runJob)
      states.flush()
      release.run()
      return results
    } catch (error) {
      pending.rewind(position)
      states.reset()
      if (connection.isTransaction) connection.exec('ROLLBACK TO calls; RELEASE calls')
      throw error
    } finally {
      reset()
    }
  }
  const runOne = (job: CallJob): CallJobResult => {
    try {
      return runAll([job])[0] ?? { value: undefined }
    } catch (error) {
      if (!connection.isTransaction || isFatal(error)) throw error
      return { error }
    }
  }
  return {
    run: (jobs) => {
      try {
        return runAll(jobs)
      } catch (error) {
        if (!connection.isTransaction || isFatal(error)) throw error
        return jobs.length === 1 ? [{ error }] : jobs.map(runOne)
      }
    },
  }
}
