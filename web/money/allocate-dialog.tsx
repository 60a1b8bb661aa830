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

/** Moves money between the wallet and the budget of a project. */
export function AllocateDialog({ budget: { projectId, name }, onClose }: Props) {
  const { currency } = useSignedInSession()
  const allocate = useApiMutation({ method: 'POST', path: '/money/allocate', onSuccess: onClose })
  const form = useForm({
    initialValues: { amount: '' },
    validate: {
      amount: (text) =>
        parseAmountMicros(text) === undefined ? 'An amount such as 25 or -0.50' : null,
    },
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Budget of ${name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={form.onSubmit(({ amount }) =>
          allocate.mutate({ body: { projectId, amountMicros: parseAmountMicros(amount) } }),
        )}
      >
        <Stack>
          <TextInput
            label={`Amount, ${currency}`}
            description="From the wallet to the project; negative: back to the wallet."
            inputMode="decimal"
            required
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <ErrorNotice error={allocate.error} />
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
