import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useSignedInSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { parseAmountMicros } from '../format/amount.ts'
import { ErrorNotice } from '../components/error-notice.tsx'

type Props = {
  readonly budget: { readonly projectId: string; readonly name: string }
  readonly onClose: () => void
}

/** Moves funds between the wallet and the budget of a project. */
export function AllocateDialog({ budget: { projectId, name }, onClose }: Props) {
  const { currency } = useSignedInSession()
  const allocate = useApiMutation({ method: 'POST', path: '/money/allocate', onSuccess: onClose })
  const form = useForm({
    initialValues: { amount: '' },
    validate: {
      amount: (text) =>
        parseAmountMicros(text) === undefined ? 'Enter an amount, such as 25 or -0.50' : null,
    },
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Allocate to ${name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={form.onSubmit(({ amount }) =>
          allocate.mutate({ body: { projectId, amountMicros: parseAmountMicros(amount) } }),
        )}
      >
        <Stack>
          <TextInput
            label={`Amount (${currency})`}
            description="A negative amount returns funds to the wallet."
            inputMode="decimal"
            required
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <ErrorNotice title="Couldn't allocate funds" error={allocate.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={allocate.isPending}>
              Allocate
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
