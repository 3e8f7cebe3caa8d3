import { fuzzRequests } from './fuzz/fuzz-requests.ts';

fuzzRequests(6000);
