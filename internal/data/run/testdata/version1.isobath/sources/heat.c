int main;
int u;
