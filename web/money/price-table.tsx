import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { Money as MoneyFacts } from '../api/answers.ts'
import { useMay, useSignedIn } from '../api/session.ts'
import { useSend } from '../api/use-api.ts'
import { microsOf } from '../parts/amount.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Money } from '../parts/money.tsx'

type Price = MoneyFacts['prices'][number]

/** What a call of each action costs: units of the action times the price of a unit. */
export function PriceTable({ prices }: { readonly prices: readonly Price[] }) {
  const mayWrite = useMay('owner')
  const [chosen, setChosen] = useState<Price>()
  return (
    <>
      <DataTable
        caption="Prices"
        rows={prices}
        keyOf={({ action }) => action}
        columns={mayWrite ? [...columns, changeColumn(setChosen)] : columns}
        empty={null}
      />
      {chosen && <ChangePrice price={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

const columns: readonly Column<Price>[] = [
  { name: 'Action', mono: true, cell: ({ action }) => action },
  { name: 'Units a call', align: 'right', cell: ({ units }) => units },
  { name: 'Unit price', align: 'right', cell: ({ unitMicros }) => <Money micros={unitMicros} /> },
  {
    name: 'A call with one picture',
    align: 'right',
    cell: ({ units, unitMicros }) => <Money micros={BigInt(unitMicros) * BigInt(units)} />,
  },
  { name: 'Set by', cell: ({ isDefault }) => (isDefault ? 'the default' : 'your account') },
]

function changeColumn(onChoose: (price: Price) => void): Column<Price> {
  return {
    name: 'Actions',
    cell: (price) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Change the price of ${price.action}`}
        onClick={() => onChoose(price)}
      >
        Change
      </Button>
    ),
  }
}

type ChangeParts = { readonly price: Price; readonly onClose: () => void }

function ChangePrice({ price: { action }, onClose }: ChangeParts) {
  const { currency } = useSignedIn()
  const save = useSend({ method: 'PUT', path: '/money/prices/:action', onDone: onClose })
  const form = useForm({
    initialValues: { amount: '' },
    validate: {
      amount: (text) =>
        text !== '' && !microsOf(text)?.match(/^\d/u) ? 'An amount such as 0.002' : null,
    },
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Price of ${action}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={form.onSubmit(({ amount }) =>
          save.mutate({ parts: { action }, body: { unitMicros: microsOf(amount) ?? null } }),
        )}
      >
        <Stack>
          <TextInput
            label={`Unit price, ${currency}`}
            description="Empty: the default. It holds for calls from now on."
            inputMode="decimal"
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <ErrorNotice error={save.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
