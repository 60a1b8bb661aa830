import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { MoneySummary } from '../api/responses.ts'
import { useHasRole, useSignedInSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { formatAmount, parseAmountMicros } from '../format/amount.ts'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { MoneyAmount } from './money-amount.tsx'

type ActionPrice = MoneySummary['prices'][number]

/** The price per call of each action: units per call times unit price. */
export function PriceTable({ prices }: { readonly prices: readonly ActionPrice[] }) {
  const mayWrite = useHasRole('owner')
  const [selected, setSelected] = useState<ActionPrice>()
  return (
    <>
      <DataTable
        caption="Prices"
        rows={prices}
        rowKey={({ action }) => action}
        columns={mayWrite ? [...columns, editColumn(setSelected)] : columns}
        empty={null}
      />
      {selected && <EditPriceDialog price={selected} onClose={() => setSelected(undefined)} />}
    </>
  )
}

const columns: readonly Column<ActionPrice>[] = [
  { name: 'Action', isMonospace: true, renderCell: ({ action }) => action },
  { name: 'Units per call', align: 'right', renderCell: ({ units }) => units },
  {
    name: 'Unit price',
    align: 'right',
    renderCell: ({ unitMicros }) => <MoneyAmount micros={unitMicros} />,
  },
  {
    name: 'Price with one image',
    align: 'right',
    renderCell: ({ units, unitMicros }) => (
      <MoneyAmount micros={BigInt(unitMicros) * BigInt(units)} />
    ),
  },
  {
    name: 'Without an image',
    align: 'right',
    renderCell: ({ unitsWithoutImage, unitMicros }) =>
      unitsWithoutImage === null ? (
        'needs an image'
      ) : (
        <MoneyAmount micros={BigInt(unitMicros) * BigInt(unitsWithoutImage)} />
      ),
  },
  { name: 'Source', renderCell: ({ isDefault }) => (isDefault ? 'Default' : 'Account') },
]

function editColumn(onSelect: (price: ActionPrice) => void): Column<ActionPrice> {
  return {
    name: 'Actions',
    renderCell: (price) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Edit price of ${price.action}`}
        onClick={() => onSelect(price)}
      >
        Edit
      </Button>
    ),
  }
}

type EditPriceDialogProps = { readonly price: ActionPrice; readonly onClose: () => void }

function EditPriceDialog({ price, onClose }: EditPriceDialogProps) {
  const { action, isDefault, unitMicros } = price
  const { currency } = useSignedInSession()
  const save = useApiMutation({ method: 'PUT', path: '/money/prices/:action', onSuccess: onClose })
  const form = useForm({
    initialValues: { amount: isDefault ? '' : formatAmount(unitMicros) },
    validate: {
      amount: (text) =>
        text !== '' && !parseAmountMicros(text)?.match(/^\d/u)
          ? 'Enter an amount, such as 0.002'
          : null,
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
            label={`Unit price (${currency})`}
            description="Leave empty for the default. Applies to new calls."
            inputMode="decimal"
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <ErrorNotice title="Couldn't save price" error={save.error} />
          <Group justify="flex-end">
            <Button type="submit" disabled={!form.isDirty()} loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
