import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { MoneySummary as MoneyFacts } from '../api/responses.ts'
import { useHasRole, useSignedInSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { parseAmountMicros } from '../format/amount.ts'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'

type ActionPrice = MoneyFacts['prices'][number]

/** What a call of each action costs: units of the action times the price of a unit. */
export function PriceTable({ prices }: { readonly prices: readonly ActionPrice[] }) {
  const mayWrite = useHasRole('owner')
  const [chosen, setChosen] = useState<ActionPrice>()
  return (
    <>
      <DataTable
        caption="Prices"
        rows={prices}
        rowKey={({ action }) => action}
        columns={mayWrite ? [...columns, changeColumn(setChosen)] : columns}
        empty={null}
      />
      {chosen && <ChangePriceDialog price={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

const columns: readonly Column<ActionPrice>[] = [
  { name: 'Action', isMonospace: true, renderCell: ({ action }) => action },
  { name: 'Units a call', align: 'right', renderCell: ({ units }) => units },
  {
    name: 'Unit price',
    align: 'right',
    renderCell: ({ unitMicros }) => <MoneyAmount micros={unitMicros} />,
  },
  {
    name: 'A call with one picture',
    align: 'right',
    renderCell: ({ units, unitMicros }) => (
      <MoneyAmount micros={BigInt(unitMicros) * BigInt(units)} />
    ),
  },
  { name: 'Set by', renderCell: ({ isDefault }) => (isDefault ? 'the default' : 'your account') },
]

function changeColumn(onChoose: (price: ActionPrice) => void): Column<ActionPrice> {
  return {
    name: 'Actions',
    renderCell: (price) => (
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

type ChangePriceDialogProps = { readonly price: ActionPrice; readonly onClose: () => void }

function ChangePriceDialog({ price: { action }, onClose }: ChangePriceDialogProps) {
  const { currency } = useSignedInSession()
  const save = useApiMutation({ method: 'PUT', path: '/money/prices/:action', onSuccess: onClose })
  const form = useForm({
    initialValues: { amount: '' },
    validate: {
      amount: (text) =>
        text !== '' && !parseAmountMicros(text)?.match(/^\d/u) ? 'An amount such as 0.002' : null,
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
          save.mutate({
            pathParams: { action },
            body: { unitMicros: parseAmountMicros(amount) ?? null },
          }),
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
