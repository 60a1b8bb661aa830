import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { microsFrom, nameFrom, signedMicros } from '../command-line/value-kinds.ts'
import { required, optionalAccount, requiredProject } from '../options.ts'

export const wallet = defineGroup({
  path: 'wallet',
  commands: [
    defineCommand({
      path: 'wallet top-up',
      options: {
        amount: required('<micros>', microsFrom(1)),
        account: optionalAccount,
      },
      run: async (values) => (await import('./money.ts')).addFunds(values),
    }),
    defineCommand({
      path: 'wallet show',
      options: { account: optionalAccount },
      run: async (values) => (await import('./money.ts')).showWallet(values),
    }),
  ],
})

export const budget = defineGroup({
  path: 'budget',
  commands: [
    defineCommand({
      path: 'budget allocate',
      options: {
        project: requiredProject,
        amount: required('<micros>', signedMicros),
      },
      run: async (values) => (await import('./money.ts')).allocate(values),
    }),
    defineCommand({
      path: 'budget show',
      options: { project: requiredProject },
      run: async (values) => (await import('./money.ts')).showBudget(values),
    }),
  ],
})

const actionNames = async (): Promise<readonly string[]> =>
  (await import('../../actions/all-actions.ts')).allActions.map(({ name }) => name)

export const price = defineGroup({
  path: 'price',
  commands: [
    defineCommand({
      path: 'price show',
      options: { account: optionalAccount },
      run: async (values) => (await import('./money.ts')).showPrices(values),
    }),
    defineCommand({
      path: 'price set',
      arguments: { action: required('<action>', nameFrom(actionNames)) },
      options: {
        unit: required('<micros>', microsFrom(0)),
        account: optionalAccount,
      },
      run: async (values) => (await import('./money.ts')).setUnitPrice(values),
    }),
  ],
})

export const ledger = defineGroup({
  path: 'ledger',
  commands: [
    defineCommand({
      path: 'ledger verify',
      run: async (values) => (await import('./money.ts')).verifyLedger(values),
    }),
  ],
})
