import { requireAccountScope } from '../../lib/account-context.ts'
import { formatUtc } from '../../lib/clock.ts'
import { type RateLimits, describeBucket } from '../../lib/limits/token-bucket.ts'
import { decisionColumns } from '../../lib/observability/call-decision.ts'
import { latencyBucketOf } from '../../lib/observability/latency-histogram.ts'
import { transferHashInput } from '../billing/transfer-hash.ts'
import type { ReadTx, Tx } from '../database.ts'
import type { AdmissionInput, Now } from '../gate/admission-facts.ts'
import { type AdmittedTerms, deadlineOf, lastUseIntervalMs } from '../gate/admission-rule.ts'
import { createCallStatements } from '../gate/call-statements.ts'
import { countsOfCall, hourStartMs, scoreBinOf } from '../gate/hourly-counts.ts'
import { chargeOf } from '../gate/settlement-rule.ts'
import type { SettlementInput, StatementParameters, StatementRunner } from '../gate/statements.ts'
import { type RunBatched, hexText, listQuery, listStatement } from './connection/batcher.ts'
import { ConnectionLostError, isRetryable } from './connection/fault.ts'
import {
  type PostgresStatement,
  type QueryRunner,
  prepare,
  queryBuilder,
  statementName,
} from './connection/kysely-driver.ts'
import type { PostgresTransaction } from './connection/transaction.ts'

type StatementSender = Pick<PostgresTransaction, 'run' | 'send'>

/** Returns the statements of a job in its transaction. */
export function postgresTx(transaction: PostgresTransaction): Tx {
  const savepoints = lazySavepoints(transaction)
  return {
    ...postgresReadTx(savepoints.runner),
    savepoint: savepoints.within,
    lock: async (name, mode) => {
      if (mode === 'exclusive') await transaction.waitForTurn(name)
      await locks[mode].run({ run: transaction.runWaiting }, { name })
    },
    ...createCallStatements(statementRunner(savepoints.runner)),
    settleCall: (settlement) => settleInTransaction(transaction, settlement),
  }
}

/** Returns functions that build and run queries in a transaction. */
export function postgresReadTx(on: QueryRunner): ReadTx {
  return {
    build: queryBuilder,
    run: async (query) => {
      const { sql: text, parameters } = query.compile()
      const { rows } = await on.run({ text, name: statementName(text), values: parameters })
      // Kysely derives the type of a row from the query.
      return rows as never
    },
  }
}

const locks = {
  exclusive: prepare('select pg_advisory_xact_lock(hashtextextended(:name, 0))'),
  shared: prepare('select pg_advisory_xact_lock_shared(hashtextextended(:name, 0))'),
}

/**
 * Creates each savepoint with the first statement of its work. Many actions only compute, and then
 * cost no round trip. The commit releases the remaining savepoints.
 */
function lazySavepoints(transaction: PostgresTransaction) {
  /** The number of nested works that run. */
  let depth = 0
  /** The number of created savepoints, the outermost first. */
  let created = 0
  const createMissing = (): void => {
    for (; created < depth; created++) transaction.send({ text: `savepoint effect_${created + 1}` })
  }
  const runner: StatementSender = {
    run: (query) => {
      createMissing()
      return transaction.run(query)
    },
    send: (query) => {
      createMissing()
      transaction.send(query)
    },
  }
  const within: Tx['savepoint'] = async (work) => {
    depth++
    try {
      return await work()
    } catch (error) {
      if (created >= depth) await transaction.run({ text: `rollback to savepoint effect_${depth}` })
      throw error
    } finally {
      depth--
      created = Math.min(created, depth)
    }
  }
  return { runner, within }
}

/** Adds a call to the counts of its hour. `bucket`: the latency's in the histogram, counted from 1. */
const countCall = prepare(
  `insert into "callHours" as h ("hourMs", "projectId", "keyId", action, code, outcome, calls,
     billed, "costMicros", "meteredMicros", "nearMisses", "similaritySum", rated, "qualitySum",
     latencies)
   values (:hourMs, :projectId, :keyId, :action, :code, :outcome, 1, :billed, :costMicros,
     :meteredMicros, :nearMisses, :similaritySum, :rated, :qualitySum,
     array_fill(0, array[:bucket::integer - 1]) || 1 || array_fill(0, array[80 - :bucket::integer]))
   on conflict ("hourMs", "projectId", "keyId", action, code, outcome) do update set
     calls = h.calls + 1, billed = h.billed + excluded.billed,
     "costMicros" = h."costMicros" + excluded."costMicros",
     "meteredMicros" = h."meteredMicros" + excluded."meteredMicros",
     "nearMisses" = h."nearMisses" + excluded."nearMisses",
     "similaritySum" = h."similaritySum" + excluded."similaritySum",
     rated = h.rated + excluded.rated, "qualitySum" = h."qualitySum" + excluded."qualitySum",
     latencies[:bucket] = h.latencies[:bucket] + 1`,
)

/** Returns the runner of portable statements. Each text is translated at its first use. */
function statementRunner(on: StatementSender): StatementRunner {
  return {
    all: <Row>(sql: string, parameters: StatementParameters) =>
      prepareOnce(sql).all(on, parameters) as Promise<readonly Row[]>,
    run: (sql, parameters) => prepareOnce(sql).run(on, parameters),
    send: (sql, parameters) => prepareOnce(sql).send(on, parameters),
    countCall: (row) =>
      countCall.send(on, {
        ...row,
        outcome: row.outcome ?? '',
        hourMs: hourStartMs(row.atMs),
        ...countsOfCall(row),
        bucket: latencyBucketOf(row.latencyMs) + 1,
      }),
  }
}

const statements = new Map<string, PostgresStatement<unknown>>()

function prepareOnce(sql: string): PostgresStatement<unknown> {
  const existing = statements.get(sql)
  if (existing) return existing
  const prepared = prepare(sql)
  statements.set(sql, prepared)
  return prepared
}

/** What the function has decided about an admitted call. */
type AdmittedRow = RateLimits &
  Pick<AdmittedTerms, 'unitMicros' | 'reservedMicros' | 'isBilled'> & {
    readonly fullAtUs: number
  }

/** The calls of a list belong to one project. */
const admitStatement = listStatement<AdmittedRow>('select * from "admitCalls"($1::json)')

/**
 * Admits a new call with one statement. It makes the decision of `decideAdmission` in the database.
 *
 * @returns undefined if the call was not admitted, or the connection was lost and the result is
 *   unknown. The caller then searches for an attempt with the same token.
 */
export async function admitInOneStatement(runBatched: RunBatched, call: AdmissionInput) {
  const { projectId, limits, consumedTokens: _, ...input } = call
  const { nowMs, fingerprint } = input
  const statementInput = {
    ...input,
    ...limits,
    scope: requireAccountScope(),
    nowUtc: formatUtc(nowMs),
    lastUsedBeforeUtc: formatUtc(nowMs - lastUseIntervalMs),
    unitMicros: String(input.unitMicros),
    fingerprint: hexText(fingerprint),
    deadlineMs: deadlineOf(call, input.attemptMsMax),
  }
  try {
    const row = await runBatched(`admit ${projectId}`, admitStatement, statementInput)
    return row && termsOf(row, call)
  } catch (error) {
    if (error instanceof ConnectionLostError || isRetryable(error, 'race')) return undefined
    throw error
  }
}

function termsOf(row: AdmittedRow, { nowMs, steadyUs }: Now): AdmittedTerms {
  const { fullAtUs, unitMicros, reservedMicros, isBilled } = row
  const tokens = describeBucket(row, { isAllowed: true, fullAtUs }, steadyUs)
  return { access: { tokens }, windowStartMs: nowMs, unitMicros, reservedMicros, isBilled }
}

/** The calls of a list belong to one project. A row means that its call was settled. */
const settleStatement = listStatement<object>('select * from "settleCalls"($1::json)')

/** Completes a call together with others of its project, in a separate transaction. */
export async function settleInOneStatement(runBatched: RunBatched, settlement: SettlementInput) {
  const name = `settle ${settlement.projectId}`
  return (await runBatched(name, settleStatement, settleInputOf(settlement))) !== undefined
}

/** Completes a call in the transaction of its effect. */
async function settleInTransaction(transaction: PostgresTransaction, settlement: SettlementInput) {
  const query = listQuery(settleStatement, [JSON.stringify(settleInputOf(settlement))])
  return settleStatement.readRows(await transaction.run(query), 1)[0] !== undefined
}

function settleInputOf({ scores, row, decision, ...settlement }: SettlementInput) {
  const link = transferHashInput(chargeOf(settlement))
  return {
    ...settlement,
    scope: requireAccountScope(),
    response: hexText(settlement.response),
    scrubbed: settlement.scrubbed && hexText(settlement.scrubbed),
    reservedMicros: String(settlement.reservedMicros),
    amountMicros: String(settlement.amountMicros),
    meteredMicros: String(settlement.meteredMicros),
    linkBefore: link.before,
    linkAfter: link.after,
    scoreKinds: scores.map(({ kind }) => kind),
    scoreBins: scores.map(({ value }) => scoreBinOf(value)),
    scoreMatches: scores.map(({ isMatched }) => (isMatched ? 1 : 0)),
    atMs: row.atMs,
    keyId: row.keyId,
    loggedRequestId: row.requestId,
    loggedAction: row.action,
    latencyMs: row.latencyMs,
    detail: row.detail,
    bucket: latencyBucketOf(row.latencyMs) + 1,
    ...decisionColumns(decision),
  }
}
