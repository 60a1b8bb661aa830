import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useMay, useSignedIn } from '../api/session.ts'
import { useSend } from '../api/use-api.ts'
import { microsOf } from '../parts/amount.ts'
import { ErrorNotice } from '../parts/error-notice.tsx'

/** Adds credit to the wallet. Facegate takes no payments: it keeps the books of what was agreed. */
export function TopUp() {
  const mayWrite = useMay('admin')
  const [isOpen, setIsOpen] = useState(false)
  if (!mayWrite) return null
  return (
    <>
      <Button size="sm" onClick={() => setIsOpen(true)}>
        Top up
      </Button>
      {isOpen && <TopUpForm onClose={() => setIsOpen(false)} />}
    </>
  )
}

function TopUpForm({ onClose }: { readonly onClose: () => void }) {
  const { currency } = useSignedIn()
  const topUp = useSend({ method: 'POST', path: '/money/top-up', onDone: onClose })
  const form = useForm({
    initialValues: { amount: '', note: '' },
    validate: {
      amount: (text) => (microsOf(text) === undefined ? 'An amount such as 25 or 0.50' : null),
    },
  })
  return (
    <Modal opened onClose={onClose} title="Top up" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={form.onSubmit(({ amount, note }) =>
          topUp.mutate({ body: { amountMicros: microsOf(amount), ...(note && { note }) } }),
        )}
      >
        <Stack>
          <TextInput
            label={`Amount, ${currency}`}
            description="A negative amount takes credit back."
            inputMode="decimal"
            required
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <TextInput
            label="Note"
            description="Kept in the audit: an invoice, who agreed."
            {...form.getInputProps('note')}
          />
          <ErrorNotice error={topUp.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={topUp.isPending}>
              Add to the wallet
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
