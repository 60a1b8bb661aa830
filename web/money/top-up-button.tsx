import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useHasRole, useSignedInSession } from '../api/session.ts'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { formatAmount, parseAmountMicros } from '../format/amount.ts'
import { ErrorNotice } from '../components/error-notice.tsx'

/** Adds credit to the wallet. Facegate processes no payments: it only records the amount. */
export function TopUpButton() {
  const mayWrite = useHasRole('admin')
  const [isOpen, setIsOpen] = useState(false)
  if (!mayWrite) return null
  return (
    <>
      <Button size="sm" onClick={() => setIsOpen(true)}>
        Top up
      </Button>
      {isOpen && <TopUpDialog onClose={() => setIsOpen(false)} />}
    </>
  )
}

const fieldNames = { amountMicros: 'amount', confirmAmountMicros: 'confirmation', note: 'note' }

function TopUpDialog({ onClose }: { readonly onClose: () => void }) {
  const { currency } = useSignedInSession()
  const { data: money } = useApiQuery('/money')
  const limitMicros = money?.topUpConfirmationMicros
  // A request that is sent again after a lost response adds its amount once.
  const [requestId, setRequestId] = useState(() => crypto.randomUUID())
  const topUp = useApiMutation({
    method: 'POST',
    path: '/money/top-up',
    onSuccess: onClose,
    onError: (error) => showFieldErrors(form, error, fieldNames),
  })
  const form = useForm({
    // Another amount is another request.
    onValuesChange: ({ amount }, earlier) => {
      if (amount !== earlier.amount) setRequestId(crypto.randomUUID())
    },
    initialValues: { amount: '', confirmation: '', note: '' },
    validate: {
      amount: (text) =>
        positiveMicros(text) === undefined ? 'Enter an amount above 0, such as 25 or 0.50' : null,
      confirmation: (text, { amount }) =>
        isLarge(amount, limitMicros) && positiveMicros(text) !== positiveMicros(amount)
          ? 'Type the same amount again'
          : null,
    },
  })
  const submit = ({ amount, note }: typeof form.values): void => {
    const amountMicros = positiveMicros(amount)
    const confirmAmountMicros = isLarge(amount, limitMicros) ? amountMicros : undefined
    topUp.mutate({ body: { amountMicros, confirmAmountMicros, requestId, ...(note && { note }) } })
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title="Top up wallet"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <TextInput
            label={`Amount (${currency})`}
            description="The ledger is permanent: credit cannot be removed from the wallet again, only allocated and spent."
            inputMode="decimal"
            required
            data-autofocus
            {...form.getInputProps('amount')}
          />
          {isLarge(form.values.amount, limitMicros) && (
            <TextInput
              label={`Type the amount again (${currency})`}
              description={`Required above ${formatAmount(limitMicros ?? '0')} ${currency}.`}
              inputMode="decimal"
              autoComplete="off"
              required
              {...form.getInputProps('confirmation')}
            />
          )}
          <TextInput
            label="Note"
            description="For the audit log, such as an invoice number."
            {...form.getInputProps('note')}
          />
          <ErrorNotice
            title="Couldn't top up wallet"
            error={errorWithoutFields(topUp.error, fieldNames)}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={topUp.isPending}>
              Add credit
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** Returns a typed amount above 0 in micro-units; undefined for other text. */
function positiveMicros(text: string): string | undefined {
  const micros = parseAmountMicros(text)
  return micros !== undefined && BigInt(micros) > 0n ? micros : undefined
}

/** Whether an amount must be typed twice. */
function isLarge(amount: string, limitMicros: string | undefined): boolean {
  const micros = positiveMicros(amount)
  return micros !== undefined && limitMicros !== undefined && BigInt(micros) > BigInt(limitMicros)
}
