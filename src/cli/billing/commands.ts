import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { microsFrom, nameFrom, signedMicros } from '../command-line/value-kinds.ts'
import { required, optionalAccount, requiredProject } from '../options.ts'

export const wallet = defineGroup({
  name: 'wallet',
  summary: 'add money to the wallet of the account, show all balances',
  description: 'Amounts are whole micros: millionths of the currency of the account.',
  commands: [
    defineCommand({
      name: 'top-up',
      summary: 'add money to the wallet',
      options: {
        amount: required('<micros>', 'the amount to add', microsFrom(1)),
        account: optionalAccount,
      },
      run: async (values) => (await import('./money.ts')).addFunds(values),
    }),
    defineCommand({
      name: 'show',
      summary: 'show the balance of the wallet and of each budget',
      options: { account: optionalAccount },
      run: async (values) => (await import('./money.ts')).showWallet(values),
    }),
  ],
})

export const budget = defineGroup({
  name: 'budget',
  summary: 'move money between the wallet and a project, show the budget of a project',
  description: 'The budget of a project pays for its calls. Amounts are whole micros.',
  commands: [
    defineCommand({
      name: 'allocate',
      summary: 'move money from the wallet to the budget of a project',
      options: {
        project: requiredProject,
        amount: required(
          '<micros>',
          'the amount; a negative amount moves money back to the wallet',
          signedMicros,
        ),
      },
      run: async (values) => (await import('./money.ts')).allocate(values),
    }),
    defineCommand({
      name: 'show',
      summary: 'show the budget of a project',
      options: { project: requiredProject },
      run: async (values) => (await import('./money.ts')).showBudget(values),
    }),
  ],
})

const actionNames = async (): Promise<readonly string[]> =>
  (await import('../../actions/all-actions.ts')).allActions.map(({ name }) => name)

export const price = defineGroup({
  name: 'price',
  summary: 'show and set the unit price of each action',
  description:
    'A successful call costs its units times the unit price. The page /docs/reference/actions.html of the service lists the units.',
  commands: [
    defineCommand({
      name: 'show',
      summary: 'show the unit price of each action',
      options: { account: optionalAccount },
      run: async (values) => (await import('./money.ts')).showPrices(values),
    }),
    defineCommand({
      name: 'set',
      summary: 'set the unit price of an action',
      arguments: {
        action: required(
          '<action>',
          'name of the action, such as svc.detect',
          nameFrom(actionNames),
        ),
      },
      options: {
        unit: required('<micros>', 'the price of one unit', microsFrom(0)),
        account: optionalAccount,
      },
      run: async (values) => (await import('./money.ts')).setUnitPrice(values),
    }),
  ],
})

export const ledger = defineGroup({
  name: 'ledger',
  summary: 'audit the ledger: balances, charges, reservations, hash chains',
  commands: [
    defineCommand({
      name: 'verify',
      summary: 'check the invariants L1 to L9 on one snapshot of the database',
      description:
        'A server may run at the same time. The exit code is 0 when all invariants hold. The output identifies the row that breaks an invariant.',
      run: async (values) => (await import('./money.ts')).verifyLedger(values),
    }),
  ],
})
