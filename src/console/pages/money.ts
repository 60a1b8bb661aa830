import { z } from 'zod'
import { allActions } from '../../actions/all-actions.ts'
import { allocate, topUp } from '../../billing/ledger.ts'
import { HttpError } from '../../lib/errors.ts'
import { microsMax } from '../../lib/money.ts'
import { findAccountBalances } from '../../store/billing/balances.ts'
import type { Database } from '../../store/schema.ts'
import { listPrices, removePrice, setPrice } from '../../store/billing/prices.ts'
import { findProjectSummaries } from '../../store/tenancy/project-summaries.ts'
import { walletLedger } from '../../store/tenancy/projects.ts'
import { id, micros } from '../server/schemas.ts'
import { defineRead, defineWrite, noQuery } from '../server/route.ts'
import { requireProject } from '../server/require-project.ts'

const price = z.object({
  action: z.string(),
  unitMicros: micros,
  isDefault: z.boolean(),
  units: z.int().meta({ description: 'Price units of one ok call with one image.' }),
})

const balance = z.object({ walletMicros: micros, budgetMicros: micros.optional() })

export const getMoney = defineRead({
  path: '/money',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.object({
    walletMicros: micros,
    currency: z.string(),
    projects: z.array(
      z.object({
        projectId: z.string(),
        name: z.string(),
        balanceMicros: micros,
        reservedMicros: micros,
        allocatedMicros: micros,
        spentMicros: micros,
      }),
    ),
    prices: z.array(price),
  }),
  handle: async ({ identity: visitor, services: { store, defaults } }) => {
    const { accountId } = visitor
    const projects = await store.read((reading) => findProjectSummaries(reading, accountId))
    return {
      walletMicros: String(await readWalletMicros(store.db, accountId)),
      currency: 'USD',
      projects: projects.map(({ projectId, name, balanceMicros, reservedMicros, ...facts }) => ({
        projectId,
        name,
        balanceMicros: String(balanceMicros),
        reservedMicros: String(reservedMicros),
        allocatedMicros: String(facts.allocatedMicros),
        spentMicros: String(facts.allocatedMicros - balanceMicros),
      })),
      prices: await readPrices(store.db, accountId, defaults.unitMicros),
    }
  },
})

async function readWalletMicros(db: Database, accountId: string): Promise<bigint> {
  const balances = await findAccountBalances(db, accountId)
  return balances.find(({ ledger }) => ledger === walletLedger(accountId))?.balanceMicros ?? 0n
}

async function readPrices(db: Database, accountId: string, unitMicros: bigint) {
  const own = new Map((await listPrices(db, accountId)).map((row) => [row.action, row.unitMicros]))
  return allActions.map(({ name, price: units }) => ({
    action: name,
    unitMicros: String(own.get(name) ?? unitMicros),
    isDefault: !own.has(name),
    units: units(1),
  }))
}

const amount = micros.transform(BigInt).refine((value) => value !== 0n && value <= microsMax, {
  error: 'must be another amount',
})

export const topUpWallet = defineWrite({
  method: 'POST',
  path: '/money/top-up',
  minimumRole: 'admin',
  auditAction: 'money.topUp',
  query: noQuery,
  body: z.strictObject({ amountMicros: amount, note: z.string().max(256).optional() }),
  response: balance,
  handle: async ({ body, identity: visitor, services }, { db, tx }) => {
    const { accountId } = visitor
    const { amountMicros, note } = body
    const transferId = await topUp(tx, accountId, amountMicros, services.clock())
    const answer = { walletMicros: String(await readWalletMicros(db, accountId)) }
    const detail = { transferId, amountMicros: String(amountMicros), ...(note && { note }) }
    return { response: answer, target: walletLedger(accountId), detail }
  },
})

export const allocateBudget = defineWrite({
  method: 'POST',
  path: '/money/allocate',
  minimumRole: 'admin',
  auditAction: 'money.allocate',
  query: noQuery,
  body: z.strictObject({
    projectId: id,
    amountMicros: amount.meta({ description: 'Negative: back to the wallet.' }),
  }),
  response: balance,
  handle: async ({ body, identity: visitor, services }, { db, tx }) => {
    const { accountId } = visitor
    const parts = { projectId: body.projectId }
    const { projectId } = await requireProject(tx, { pathParameters: parts, identity: visitor })
    const transferId = await allocate(
      tx,
      { accountId, projectId },
      body.amountMicros,
      services.clock(),
    )
    const { balanceMicros } = await requireProject(tx, { pathParameters: parts, identity: visitor })
    const wallet = String(await readWalletMicros(db, accountId))
    const detail = { transferId, amountMicros: String(body.amountMicros) }
    const answer = { walletMicros: wallet, budgetMicros: String(balanceMicros) }
    return { response: answer, target: projectId, detail }
  },
})

export const setUnitPrice = defineWrite({
  method: 'PUT',
  path: '/money/prices/:action',
  minimumRole: 'owner',
  auditAction: 'money.price',
  query: noQuery,
  body: z.strictObject({
    unitMicros: z
      .string()
      .regex(/^\d{1,15}$/u, 'must be a whole number of millionths')
      .nullable()
      .meta({ description: 'null: the price that holds for all.' }),
  }),
  response: price,
  handle: async ({ body, pathParameters: parts, identity: visitor, services }, { db }) => {
    const { accountId } = visitor
    const { unitMicros } = body
    const action = allActions.find(({ name }) => name === parts['action'])
    if (!action) throw new HttpError(404, 'There is no such action.')
    if (unitMicros === null) await removePrice(db, accountId, action.name)
    else await setPrice(db, accountId, { action: action.name, unitMicros: BigInt(unitMicros) })
    const prices = await readPrices(db, accountId, services.defaults.unitMicros)
    const answer = prices.find((found) => found.action === action.name)
    if (!answer) throw new Error('the price list lacks an action')
    return { response: answer, target: action.name, detail: { unitMicros } }
  },
})
