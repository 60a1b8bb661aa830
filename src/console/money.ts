import { z } from 'zod'
import { allActions } from '../actions/all.ts'
import { allocate, topUp } from '../billing/ledger.ts'
import { HttpError } from '../lib/errors.ts'
import { microsMax } from '../lib/money.ts'
import { balancesOf } from '../store/balances.ts'
import type { Database } from '../store/database.ts'
import { listPrices, removePrice, setPrice } from '../store/prices.ts'
import { projectFacts } from '../store/project-facts.ts'
import { walletOf } from '../store/projects.ts'
import { id, micros } from './fields.ts'
import { defineRead, defineWrite, noQuery } from './route.ts'
import { theProject } from './the-project.ts'

const price = z.object({
  action: z.string(),
  unitMicros: micros,
  isDefault: z.boolean(),
  units: z.int().meta({ description: 'Price units of one ok call with one image.' }),
})

const balance = z.object({ walletMicros: micros, budgetMicros: micros.optional() })

export const getMoney = defineRead({
  path: '/money',
  who: 'viewer',
  query: noQuery,
  answer: z.object({
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
  handle: async ({ visitor, services: { store, defaults } }) => {
    const { accountId } = visitor
    const projects = await store.read((reading) => projectFacts(reading, accountId))
    return {
      walletMicros: String(await walletMicros(store.db, accountId)),
      currency: 'USD',
      projects: projects.map(({ projectId, name, balanceMicros, reservedMicros, ...facts }) => ({
        projectId,
        name,
        balanceMicros: String(balanceMicros),
        reservedMicros: String(reservedMicros),
        allocatedMicros: String(facts.allocatedMicros),
        spentMicros: String(facts.allocatedMicros - balanceMicros),
      })),
      prices: await pricesOf(store.db, accountId, defaults.unitMicros),
    }
  },
})

async function walletMicros(db: Database, accountId: string): Promise<bigint> {
  const balances = await balancesOf(db, accountId)
  return balances.find(({ ledger }) => ledger === walletOf(accountId))?.balanceMicros ?? 0n
}

async function pricesOf(db: Database, accountId: string, unitMicros: bigint) {
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
  who: 'admin',
  act: 'money.topUp',
  query: noQuery,
  body: z.strictObject({ amountMicros: amount, note: z.string().max(256).optional() }),
  answer: balance,
  handle: async ({ body, visitor, services }, { db, tx }) => {
    const { accountId } = visitor
    const { amountMicros, note } = body
    const transferId = await topUp(tx, accountId, amountMicros, services.clock())
    const answer = { walletMicros: String(await walletMicros(db, accountId)) }
    const detail = { transferId, amountMicros: String(amountMicros), ...(note && { note }) }
    return { answer, target: walletOf(accountId), detail }
  },
})

export const allocateBudget = defineWrite({
  method: 'POST',
  path: '/money/allocate',
  who: 'admin',
  act: 'money.allocate',
  query: noQuery,
  body: z.strictObject({
    projectId: id,
    amountMicros: amount.meta({ description: 'Negative: back to the wallet.' }),
  }),
  answer: balance,
  handle: async ({ body, visitor, services }, { db, tx }) => {
    const { accountId } = visitor
    const parts = { projectId: body.projectId }
    const { projectId } = await theProject(tx, { parts, visitor })
    const transferId = await allocate(
      tx,
      { accountId, projectId },
      body.amountMicros,
      services.clock(),
    )
    const { balanceMicros } = await theProject(tx, { parts, visitor })
    const wallet = String(await walletMicros(db, accountId))
    const detail = { transferId, amountMicros: String(body.amountMicros) }
    const answer = { walletMicros: wallet, budgetMicros: String(balanceMicros) }
    return { answer, target: projectId, detail }
  },
})

export const setUnitPrice = defineWrite({
  method: 'PUT',
  path: '/money/prices/:action',
  who: 'owner',
  act: 'money.price',
  query: noQuery,
  body: z.strictObject({
    unitMicros: z
      .string()
      .regex(/^\d{1,15}$/u, 'must be a whole number of millionths')
      .nullable()
      .meta({ description: 'null: the price that holds for all.' }),
  }),
  answer: price,
  handle: async ({ body, parts, visitor, services }, { db }) => {
    const { accountId } = visitor
    const { unitMicros } = body
    const action = allActions.find(({ name }) => name === parts['action'])
    if (!action) throw new HttpError(404, 'There is no such action.')
    if (unitMicros === null) await removePrice(db, accountId, action.name)
    else await setPrice(db, accountId, { action: action.name, unitMicros: BigInt(unitMicros) })
    const prices = await pricesOf(db, accountId, services.defaults.unitMicros)
    const answer = prices.find((found) => found.action === action.name)
    if (!answer) throw new Error('the price list lacks an action')
    return { answer, target: action.name, detail: { unitMicros } }
  },
})
