import { camel } from './method-names.ts';
import type { Call } from './samples.ts';

// How an operation is called by the command line, made from the contract's own examples.

/**
 * The command of each operation that has one. `<field>` is a value of the request, `[--flag]` or `[--flag=field]` one
 * that the example may leave out. What has no flag here is sent as the whole body by `--data -`.
 */
const COMMANDS: Readonly<Record<string, string>> = Object.fromEntries(
  `
listPhoneNumbers numbers list
searchAvailablePhoneNumbers numbers search [--provider] [--country] [--area-code] [--type]
buyPhoneNumber numbers buy <phoneNumber> [--provider]
importPhoneNumbers numbers import
getPhoneNumber numbers show <id>
updatePhoneNumber numbers update <id>
releasePhoneNumber numbers release <id>
listProviders providers list
getProvider providers show <provider>
saveProviderAccount providers save <provider>
deleteProviderAccount providers delete <provider>
listTrunks trunks list
createTrunk trunks create
getTrunk trunks show <trunkId>
updateTrunk trunks update <trunkId> [--max-channels] [--calls-per-second]
deleteTrunk trunks delete <trunkId>
validateTrunk trunks check <trunkId>
pauseTrunk trunks pause <trunkId>
resumeTrunk trunks resume <trunkId>
listNumberPools pools list
createNumberPool pools create [--name] [--description] [--max-calls-per-number-per-day] [--phone-number-ids]
getNumberPool pools show <id>
updateNumberPool pools update <id>
deleteNumberPool pools delete <id>
listNumberPoolMembers pools members <id>
validateNumberPoolTrunks pools check <id>
listAgents agents list
createAgent agents create
getAgent agents show <agentId>
updateAgent agents update <agentId>
deleteAgent agents delete <agentId>
testAgent agents test <agentId>
listSounds sounds list
createSound sounds upload greeting.wav
getSound sounds show <soundId>
deleteSound sounds delete <soundId>
listContactLists lists list
createContactList lists upload <fileName> [--name] [--country=defaultCountry] --yes
getContactList lists show <id>
deleteContactList lists delete <id>
listContactListEntries lists entries <id>
listRejectedContactListRows lists rejected <id>
mendRejectedContactListRow lists mend <id> <row> <cells> --upload <uploadID>
listDoNotCall dnc list
addDoNotCall dnc add <phoneNumbers> [--reason]
removeDoNotCall dnc remove <phoneNumber>
search search <query> [--default-country]
listEvents events [--after] [--type] [--resource-id] [--limit]
getPerson people show <phoneNumber> [--default-country]
listCampaigns campaigns list
createCampaign campaigns create
getCampaign campaigns show <id>
updateCampaign campaigns update <id>
deleteCampaign campaigns delete <id>
previewCampaign campaigns preview <id> [--limit=sampleSize]
startCampaign campaigns start <id>
pauseCampaign campaigns pause <id>
resumeCampaign campaigns resume <id>
stopCampaign campaigns stop <id>
cancelCampaign campaigns cancel <id>
redialCampaignContacts campaigns redial <id> [--outcomes]
skipCampaignContact campaigns skip <id> <contactId>
getCampaignStats campaigns stats <id>
listCampaignContacts campaigns contacts <id>
streamCampaignEvents campaigns watch <id>
startBatch batches create
listBatches batches list
getBatch batches show <batchId>
listBatchRecipients batches recipients <batchId>
pauseBatch batches pause <batchId>
resumeBatch batches resume <batchId>
cancelBatch batches cancel <batchId>
deleteBatch batches delete <batchId>
createCall calls place <toNumber>
listCalls calls list
getCall calls show <roomId>
endCall calls end <roomId>
listenToCall calls listen <roomId>
sendCallDtmf calls dtmf <roomId> <digits>
transferCall calls transfer <roomId> <to> [--timeout-seconds]
listWorkflows workflows list
createWorkflow workflows create
getWorkflow workflows show <workflowId>
replaceWorkflowDraft workflows update <workflowId>
publishWorkflow workflows publish <workflowId>
deleteWorkflow workflows delete <workflowId>
startWorkflowRun runs start <workflowId> --key <idempotencyKey> [--data=context]
wakeWorkflowRuns runs wake <workflowId> <concurrencyKeys>
listRuns runs list
getRun runs show <runId>
streamRunEvents runs follow <runId>
cancelRun runs cancel <runId>
listKnowledgeBases kb list
createKnowledgeBase kb create [--name] [--description]
getKnowledgeBase kb show <kbId>
deleteKnowledgeBase kb delete <kbId>
addKnowledgeBaseDocuments kb add <kbId> handbook.pdf
searchKnowledgeBase kb search <kbId> <query> [--limit]
listWebhooks webhooks list
createWebhook webhooks create [--url] [--description] [--event-types]
getWebhook webhooks show <webhookId>
updateWebhook webhooks update <webhookId> [--status]
deleteWebhook webhooks delete <webhookId>
testWebhook webhooks test <webhookId>
listWebhookDeliveries webhooks deliveries <webhookId>
listApiKeys keys list
createApiKey keys create [--name] [--permissions] [--expires-at]
revokeApiKey keys revoke <keyId>
listMembers members list
createMember members create [--email] [--role]
getMember members show <memberId>
updateMember members update <memberId> [--role]
deleteMember members delete <memberId>
getWorkspace workspace show
updateWorkspace workspace update
pauseDialing stop --yes
resumeDialing resume
`
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
);

/** The command line of an operation, or nothing where it has no command. */
export function byCli({ operation, pathValues, query, idempotencyKey, body }: Call): string | undefined {
  const command = COMMANDS[operation.operationId];
  if (!command) return undefined;
  const left = { ...(body as Record<string, unknown>) };
  const values: Record<string, unknown> = { ...query, ...left, ...pathValues, idempotencyKey };
  const words = ['trunkline'];
  const flags = new Map<string, { field: string; value: unknown }>();
  for (const word of command.split(' ')) {
    const [, placed] = /^<(\w+)>$/.exec(word) ?? [];
    const [, flag, named] = /^\[(--[\w-]+)(?:=(\w+))?\]$/.exec(word) ?? [];
    if (placed) {
      words.push(...wordsOf(values[placed]).map(quoted));
      delete left[placed];
    } else if (flag) {
      const field = named ?? camel(flag.slice(2).replaceAll('-', ' '));
      if (values[field] !== undefined) flags.set(flag, { field, value: values[field] });
    } else words.push(word);
  }
  const said = [...flags.values()].map(({ field }) => field);
  if (Object.keys(left).some((field) => !said.includes(field))) return `${words.join(' ')} ${asData(left)}`;
  const shown = [...flags].map(([flag, { value }]) => (flag === '--data' ? asData(value) : `${flag} ${quoted(value)}`));
  return [...words, ...shown].join(' ');
}

/** A value as words: each of several, and of what has names each with its name. */
function wordsOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [value].flat();
  return Object.entries(value).map(([name, one]) => `${name}=${one}`);
}

const asData = (value: unknown) => `--data - <<'JSON'\n${JSON.stringify(value, null, 2)}\nJSON`;

/** A value as a shell takes it for one word. */
function quoted(value: unknown): string {
  const text = String(value);
  return /^[\w+:/.,@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
