import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useHasRole, useSignedInSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { parseAmountMicros } from '../format/amount.ts'
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

function TopUpDialog({ onClose }: { readonly onClose: () => void }) {
  const { currency } = useSignedInSession()
  const topUp = useApiMutation({ method: 'POST', path: '/money/top-up', onSuccess: onClose })
  const form = useForm({
    initialValues: { amount: '', note: '' },
    validate: {
      amount: (text) =>
        parseAmountMicros(text) === undefined ? 'Enter an amount, such as 25 or 0.50' : null,
    },
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title="Top up wallet"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={form.onSubmit(({ amount, note }) =>
          topUp.mutate({
            body: { amountMicros: parseAmountMicros(amount), ...(note && { note }) },
          }),
        )}
      >
        <Stack>
          <TextInput
            label={`Amount (${currency})`}
            description="A negative amount removes credit."
            inputMode="decimal"
            required
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <TextInput
            label="Note"
            description="For the audit log, such as an invoice number."
            {...form.getInputProps('note')}
          />
          <ErrorNotice title="Couldn't top up wallet" error={topUp.error} />
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
