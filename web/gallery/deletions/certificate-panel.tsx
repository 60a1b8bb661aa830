import { Button, Group, List, Stack, Text } from '@mantine/core'
import type { ConsoleDeletion, SignedDeletion } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { DefinitionList } from '../../components/definition-list.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { saveFile } from '../../components/files/save-file.ts'
import { UtcTime } from '../../components/utc-time.tsx'
import { Panel } from '../../layout/panel.tsx'

/** Signs the certificate of a deletion, and offers it as a file and as a printed page. */
export function CertificatePanel({ deletion }: { readonly deletion: ConsoleDeletion }) {
  const pathParams = { deletionId: deletion.deletionId }
  const sign = useApiMutation({ method: 'POST', path: '/deletions/:deletionId/certificate' })
  const certificate = sign.data
  return (
    <Panel
      title="Certificate"
      actions={
        certificate && (
          <Group gap="xs" className="fg-no-print">
            <Button
              size="xs"
              variant="default"
              onClick={() =>
                saveFile(
                  `deletion-certificate-${deletion.subjectId}.json`,
                  JSON.stringify(certificate, undefined, 2),
                )
              }
            >
              Download JSON
            </Button>
            <Button size="xs" variant="default" onClick={() => window.print()}>
              Print
            </Button>
          </Group>
        )
      }
    >
      {certificate ? (
        <Certificate certificate={certificate} />
      ) : (
        <Stack align="flex-start" gap="xs">
          <Text size="sm">
            A certificate states this record, signed with the key of the account. It is verified
            with the public key, without access to the service. Each signature is audited.
          </Text>
          <Button size="sm" loading={sign.isPending} onClick={() => sign.mutate({ pathParams })}>
            Sign certificate
          </Button>
          <ErrorNotice title="Couldn't sign the certificate" error={sign.error} />
        </Stack>
      )}
    </Panel>
  )
}

function Certificate({ certificate }: { readonly certificate: SignedDeletion }) {
  const { statement, publicKey, signature } = certificate
  const { subjectId, embeddingCount, deletedAtUtc } = statement
  return (
    <Stack gap="sm">
      <Text>
        The subject <span className="fg-mono">{subjectId}</span> was deleted at{' '}
        <UtcTime timestampUtc={deletedAtUtc} /> UTC, with its{' '}
        {embeddingCount === 1 ? 'template' : `${embeddingCount} templates`}, crops, name and
        attributes, and the encryption key of these data.
      </Text>
      <DefinitionList
        items={{
          'Issued (UTC)': <UtcTime timestampUtc={statement.issuedAtUtc} />,
          'Account id': <span className="fg-mono">{statement.accountId}</span>,
          'Gallery id': <span className="fg-mono">{statement.galleryId}</span>,
          'Hash in the ledger': <span className="fg-mono">{statement.rowHash}</span>,
          'Public key (Ed25519)': <span className="fg-mono">{publicKey}</span>,
          Signature: <span className="fg-mono">{signature}</span>,
        }}
      />
      <Text size="sm" fw={600}>
        What it proves
      </Text>
      <List size="sm">
        <List.Item>
          The holder of the key signed exactly this record of the deletion ledger.
        </List.Item>
        <List.Item>The record was not changed after it was signed.</List.Item>
      </List>
      <Text size="sm" fw={600}>
        What it does not prove
      </Text>
      <List size="sm">
        <List.Item>
          That no copy exists elsewhere, such as a backup from before the last rotation of the
          master key, an export, or the data of a webhook receiver.
        </List.Item>
        <List.Item>That the same person is not enrolled as another subject.</List.Item>
      </List>
      <Text size="sm">
        Verify the JSON file with <span className="fg-mono">facegate deletions verify</span>, or
        with the published public key: <span className="fg-mono">--key={publicKey}</span>.
      </Text>
    </Stack>
  )
}
