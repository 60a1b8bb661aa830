import { Group } from '@mantine/core'
import type { LoggedCallDetails } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { LinkButton } from '../components/link-button.tsx'

/** The pages on which the cause of a failed call is corrected. */
export function CallRemedy({ call }: { readonly call: LoggedCallDetails }) {
  const mayWrite = useHasRole('admin')
  const { ok, code, nearMiss, projectId, keyId, action } = call
  if (!mayWrite || (ok && !nearMiss)) return null
  const button = { size: 'xs', variant: 'default' } as const
  return (
    <Group gap="xs">
      {code === 'PAYMENT_REQUIRED' && (
        <LinkButton {...button} to="/money">
          Allocate budget
        </LinkButton>
      )}
      {code === 'FORBIDDEN' && (
        <LinkButton {...button} to="/keys" search={{ key: keyId }}>
          Edit the permissions of the key
        </LinkButton>
      )}
      {(code === 'RATE_LIMITED' || nearMiss) && (
        <LinkButton {...button} to="/projects/$id" params={{ id: projectId }}>
          {nearMiss ? 'Compare thresholds' : 'Raise the limit'}
        </LinkButton>
      )}
      {action.startsWith('svc.') && (
        <LinkButton {...button} to="/playground" search={{ action, projectId }}>
          Try in the playground
        </LinkButton>
      )}
    </Group>
  )
}
