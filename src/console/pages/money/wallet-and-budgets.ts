import { z } from 'zod'
import { allActions } from '../../../actions/all-actions.ts'
import { allocate, topUp, topUpOnce } from '../../../billing/ledger.ts'
import { HttpError } from '../../../lib/errors.ts'
import { topUpConfirmationMicros } from '../../../lib/limits/money-limits.ts'
import { currency, formatAmount, microsMax, unitPriceDigitsMax } from '../../../lib/money.ts'
import { findBalance } from '../../../store/billing/balances.ts'
import type { Database } from '../../../store/schema.ts'
import { listPrices, removePrice, setPrice } from '../../../store/billing/prices.ts'
import {
  findProjectSummaries,
  type ProjectSummary,
} from '../../../store/tenancy/project-summaries.ts'
import { walletLedger } from '../../../store/tenancy/projects.ts'
import { id, invalidField, micros, requireProject } from '../../server/input.ts'
import { defineRead, defineWrite } from '../../server/console-route.ts'
import { imageLimits } from '../playground.ts'
import texts from '../../field-texts.json' with { type: 'json' }

const price = z.object({
  action: z.string(),
  unitMicros: micros,
  isDefault: z.boolean(),
  units: z.int().describe(texts.walletAndBudgets.units),
  unitsWithoutImage: z.int().nullable().describe(texts.walletAndBudgets.unitsWithoutImage),
})

/** The budget of a project. */
export const budgetFields = {
  projectId: z.string(),
  name: z.string(),
  balanceMicros: micros,
  reservedMicros: micros,
  allocatedMicros: micros,
}

export const isBilled = z.boolean().describe(texts.walletAndBudgets.isBilled)

/** Returns the budget of a project with amounts as text. */
export function toBudget(project: ProjectSummary) {
  const { projectId, name, balanceMicros, reservedMicros, allocatedMicros, billing } = project
  return {
    projectId,
    name,
    balanceMicros: String(balanceMicros),
    reservedMicros: String(reservedMicros),
    allocatedMicros: String(allocatedMicros),
    billing: billing === 1,
  }
}

const balance = z.object({ walletMicros: micros, budgetMicros: micros.optional() })

export const getMoney = defineRead('/money', {
  response: z.object({
    walletMicros: micros,
    currency: z.string(),
    topUpConfirmationMicros: micros.describe(texts.walletAndBudgets.topUpConfirmationMicros),
    projects: z.array(z.object({ ...budgetFields, spentMicros: micros, billing: isBilled })),
    prices: z.array(price),
  }),
  handle: async ({ identity, services: { store, defaults } }) => {
    const { accountId } = identity
    const projects = await store.read((tx) => findProjectSummaries(tx, accountId))
    return {
      walletMicros: String(await readWalletMicros(store.db, accountId)),
      currency,
      topUpConfirmationMicros: String(topUpConfirmationMicros),
      projects: projects.map((project) => ({
        ...toBudget(project),
        spentMicros: String(project.allocatedMicros - project.balanceMicros),
      })),
      prices: await readPrices(store.db, accountId, defaults.unitMicros),
    }
  },
})

export async function readWalletMicros(db: Database, accountId: string): Promise<bigint> {
  return (await findBalance(db, walletLedger(accountId))).balanceMicros
}

async function readPrices(db: Database, accountId: string, unitMicros: bigint) {
  const customPrices = new Map(
    (await listPrices(db, accountId)).map((row) => [row.action, row.unitMicros]),
  )
  return allActions.map(({ name, price: units, params }) => ({
    action: name,
    unitMicros: String(customPrices.get(name) ?? unitMicros),
    isDefault: !customPrices.has(name),
    units: units(1),
    unitsWithoutImage: imageLimits(params).imagesMin === 0 ? units(0) : null,
  }))
}

const amount = micros
  .transform(BigInt)
  .refine((value) => value !== 0n && -microsMax <= value && value <= microsMax, {
    error: `must not be 0 and must be at most ${formatAmount(microsMax)}`,
  })

export const topUpWallet = defineWrite('/money/top-up', {
  auditAction: 'money.topUp',
  body: z.strictObject({
    amountMicros: amount,
    confirmAmountMicros: micros.optional().describe(texts.walletAndBudgets.confirmAmountMicros),
    note: z.string().max(256).optional(),
    requestId: id.optional().describe(texts.walletAndBudgets.requestId),
  }),
  response: balance,
  handle: async ({ body, identity, services }, { db, tx }) => {
    const { accountId } = identity
    const { amountMicros, confirmAmountMicros, note } = body
    if (amountMicros > topUpConfirmationMicros && confirmAmountMicros !== String(amountMicros)) {
      const message = `must repeat the amount, because it is more than ${formatAmount(topUpConfirmationMicros)}`
      throw invalidField('body.confirmAmountMicros', message)
    }
    const nowMs = services.clock()
    const requestId = body.requestId?.toLowerCase()
    const transferId =
      requestId === undefined
        ? await topUp(tx, accountId, amountMicros, nowMs)
        : await topUpOnce(tx, { accountId, requestId }, amountMicros, nowMs)
    const response = { walletMicros: String(await readWalletMicros(db, accountId)) }
    const detail = { transferId, amountMicros: String(amountMicros), ...(note && { note }) }
    return { response, target: walletLedger(accountId), detail }
  },
})

export const allocateBudget = defineWrite('/money/allocate', {
  auditAction: 'money.allocate',
  body: z.strictObject({
    projectId: id,
    amountMicros: amount.describe(texts.walletAndBudgets.amountMicros),
  }),
  response: balance,
  handle: async ({ body, identity, services }, { db, tx }) => {
    const { accountId } = identity
    const pathParameters = { projectId: body.projectId }
    const { projectId } = await requireProject(tx, { pathParameters, identity })
    const transferId = await allocate(
      tx,
      { accountId, projectId },
      body.amountMicros,
      services.clock(),
    )
    const { balanceMicros } = await requireProject(tx, { pathParameters, identity })
    const walletMicros = String(await readWalletMicros(db, accountId))
    const detail = { transferId, amountMicros: String(body.amountMicros) }
    const response = { walletMicros, budgetMicros: String(balanceMicros) }
    return { response, target: projectId, detail }
  },
})

export const setUnitPrice = defineWrite('/money/prices/:action', {
  method: 'PUT',
  minimumRole: 'owner',
  auditAction: 'money.setPrice',
  body: z.strictObject({
    unitMicros: z
      .string()
      .regex(/^\d+$/u, 'must be a whole number of millionths')
      .max(unitPriceDigitsMax)
      .nullable()
      .describe(texts.walletAndBudgets.unitMicros),
  }),
  response: price,
  handle: async ({ body, pathParameters, identity, services }, { db }) => {
    const { accountId } = identity
    const { unitMicros } = body
    const action = allActions.find(({ name }) => name === pathParameters['action'])
    if (!action) throw new HttpError(404, 'The API has no action with this name.')
    if (unitMicros === null) await removePrice(db, accountId, action.name)
    else await setPrice(db, accountId, { action: action.name, unitMicros: BigInt(unitMicros) })
    const prices = await readPrices(db, accountId, services.defaults.unitMicros)
    const response = prices.find((row) => row.action === action.name)
    if (!response) throw new Error('an action is missing in the price list')
    return { response, target: action.name, detail: { unitMicros } }
  },
})
