import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { nameFrom, positiveMicros, signedMicros, unitPrice } from '../command-line/value-kinds.ts'
import { required, optionalAccount, requiredProject } from '../options.ts'

export const wallet = defineGroup('wallet', [
  defineCommand('wallet top-up', {
    options: {
      amount: required('<micros>', positiveMicros),
      account: optionalAccount,
    },
    run: async (values) => (await import('./money.ts')).addFunds(values),
  }),
  defineCommand('wallet show', {
    options: { account: optionalAccount },
    run: async (values) => (await import('./money.ts')).showWallet(values),
  }),
])

export const budget = defineGroup('budget', [
  defineCommand('budget allocate', {
    options: {
      project: requiredProject,
      amount: required('<micros>', signedMicros),
    },
    run: async (values) => (await import('./money.ts')).allocate(values),
  }),
  defineCommand('budget show', {
    options: { project: requiredProject },
    run: async (values) => (await import('./money.ts')).showBudget(values),
  }),
])

const actionNames = async (): Promise<readonly string[]> =>
  (await import('../../actions/all-actions.ts')).allActions.map(({ name }) => name)

export const price = defineGroup('price', [
  defineCommand('price show', {
    options: { account: optionalAccount },
    run: async (values) => (await import('./money.ts')).showPrices(values),
  }),
  defineCommand('price set', {
    arguments: { action: required('<action>', nameFrom(actionNames)) },
    options: {
      unit: required('<micros>', unitPrice),
      account: optionalAccount,
    },
    run: async (values) => (await import('./money.ts')).setUnitPrice(values),
  }),
])

export const ledger = defineGroup('ledger', [
  defineCommand('ledger verify', {
    run: async (values) => (await import('./money.ts')).verifyLedger(values),
  }),
])
