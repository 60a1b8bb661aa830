import { Button, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleProject } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { EffectList, formatLoss } from '../../components/confirm/losses.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { MoneyAmount } from '../../money/money-amount.tsx'

type Props = { readonly project: ConsoleProject }

/** States what the deletion of a project means, with a button that opens its confirmation. */
export function DeleteProjectSetting({ project }: Props) {
  const [isDialogOpen, setIsDialogOpen] = useState(false)
  return (
    <Stack align="flex-start">
      <Text size="sm">
        A deletion ends all access to the project, and returns its budget to the wallet. It cannot
        be undone.
      </Text>
      <Button className="fg-danger" size="xs" onClick={() => setIsDialogOpen(true)}>
        Delete project
      </Button>
      {isDialogOpen && (
        <DeleteProjectDialog project={project} onClose={() => setIsDialogOpen(false)} />
      )}
    </Stack>
  )
}

/** Deletes a project. Counts its data first and requires the typed name. */
function DeleteProjectDialog({ project, onClose }: Props & { readonly onClose: () => void }) {
  const { projectId, name } = project
  const pathParams = { projectId }
  const navigate = useNavigate()
  const preview = useApiQuery('/projects/:projectId/losses', { pathParams })
  const remove = useApiMutation({
    method: 'DELETE',
    path: '/projects/:projectId',
    removedPath: '/projects/:projectId',
    onSuccess: () => {
      notifications.show({ message: `The project ${name} is deleted.` })
      void navigate({ to: '/projects' })
    },
  })
  const { crops, deletion: data } = preview.data ?? {}
  return (
    <ConfirmDialog
      title={`Delete project ${name}`}
      confirmationText={name}
      confirmLabel="Delete project"
      isReady={data !== undefined && !preview.isFetching}
      isPending={remove.isPending}
      errorTitle="Couldn't delete project"
      error={remove.error ?? preview.error}
      onConfirm={(confirm) => remove.mutate({ pathParams, body: { confirm } })}
      onClose={onClose}
    >
      {data && crops ? (
        <>
          <EffectList
            title="Deleted permanently"
            items={[
              `${formatLoss({ count: data.subjects, one: 'subject', many: 'subjects' })} of the gallery that only this project uses`,
              formatLoss({ count: crops, one: 'stored crop', many: 'stored crops' }),
              `${formatLoss({ count: data.keys, one: 'API key', many: 'API keys' })}: the next call is rejected`,
              `${formatLoss({ count: data.webhooks, one: 'webhook', many: 'webhooks' })} with the pending events`,
              'stored responses and liveness sessions',
            ]}
          />
          <p>
            <MoneyAmount micros={project.budgetMicros} /> return to the wallet. The subjects of the
            shared gallery, the ledger and the logs stay.
          </p>
        </>
      ) : (
        'Counting the data…'
      )}
    </ConfirmDialog>
  )
}
