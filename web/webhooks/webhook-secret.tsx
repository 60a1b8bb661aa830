import { OneTimeSecret } from '../components/one-time-secret.tsx'

type Props = { readonly secret: string; readonly onDone: () => void }

/** Shows the signing secret of a webhook once. */
export function WebhookSecret({ secret, onDone }: Props) {
  return (
    <OneTimeSecret
      secret={secret}
      label="signing secret"
      storage="The service stores it encrypted and never shows it again."
      onDone={onDone}
    />
  )
}
